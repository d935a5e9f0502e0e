// SPDX-License-Identifier: Apache-2.0
// Lights up what belongs together, sorts lists, filters dependencies. The page can be read without it.
'use strict';
(function () {
    const all = (selector, root) => Array.from((root || document).querySelectorAll(selector));
    let chosen = null; // the unit that was clicked

    // ---- a unit, everywhere, and its dependencies ----

    function light(unit) {
        const near = new Set([unit]);
        for (const edge of all('.edge')) {
            const mine = unit !== null && (edge.dataset.from === unit || edge.dataset.to === unit);
            edge.classList.toggle('on', mine);
            if (mine) {
                near.add(edge.dataset.from);
                near.add(edge.dataset.to);
            }
        }
        for (const e of all('[data-unit]')) {
            e.classList.toggle('on', e.dataset.unit === unit);
            e.classList.toggle('near', unit !== null && near.has(e.dataset.unit));
        }
        for (const svg of all('.graph svg'))
            svg.classList.toggle('chosen', unit !== null && all('.node.on', svg).length > 0);
    }

    function name_of(unit) {
        const row = document.getElementById(unit);
        return row ? row.querySelector('th').textContent : unit;
    }

    // The list of dependencies shows those of the chosen unit and of the kinds that are ticked.
    function filter(section) {
        const kinds = new Set(all('.kinds input', section).filter(i => i.checked).map(i => i.value));
        const here = chosen !== null && section.querySelector('[data-unit="' + chosen + '"]') !== null;
        let shown = 0;
        for (const row of all('.deps tbody tr', section)) {
            const d = row.dataset;
            const show = kinds.has(d.kind) && (!here || d.from === chosen || d.to === chosen);
            row.hidden = !show;
            shown += show;
        }
        for (const edge of all('.edge', section))
            edge.classList.toggle('hidden', !kinds.has(edge.dataset.kind));
        const which = section.querySelector('.deps .which');
        which.textContent = here ? 'Dependencies of ' + name_of(chosen) : 'All dependencies as a list';
        section.querySelector('.deps .count').textContent = shown;
        if (here)
            section.querySelector('.deps').open = true;
    }

    function choose(unit) {
        chosen = unit === chosen ? null : unit;
        light(chosen);
        all('.dependencies').forEach(filter);
    }

    for (const e of all('[data-unit]')) {
        e.addEventListener('mouseenter', () => light(e.dataset.unit));
        e.addEventListener('mouseleave', () => light(chosen));
        e.addEventListener('focus', () => light(e.dataset.unit));
        e.addEventListener('blur', () => light(chosen));
        if (e.classList.contains('node'))
            e.addEventListener('click', event => {
                event.preventDefault();
                choose(e.dataset.unit);
            });
    }
    for (const section of all('.dependencies'))
        for (const input of all('.kinds input', section))
            input.addEventListener('change', () => filter(section));
    document.addEventListener('keydown', event => {
        if (event.key === 'Escape' && chosen !== null)
            choose(chosen);
    });

    // ---- lists ----

    function value_of(row, column, kind) {
        const cell = row.cells[column];
        const text = 'value' in cell.dataset ? cell.dataset.value : cell.textContent;
        return kind === 'number' ? parseFloat(text) || 0 : text;
    }

    function sort(th) {
        const table = th.closest('table'), column = th.cellIndex, kind = th.dataset.sort;
        const down = th.getAttribute('aria-sort') === 'ascending' ||
            (kind === 'number' && th.getAttribute('aria-sort') !== 'descending');
        const rows = Array.from(table.tBodies[0].rows);
        rows.sort((a, b) => {
            const x = value_of(a, column, kind), y = value_of(b, column, kind);
            const order = kind === 'number' ? x - y : x.localeCompare(y);
            return down ? -order : order;
        });
        table.tBodies[0].append(...rows);
        for (const other of all('th[data-sort]', table))
            other.removeAttribute('aria-sort');
        th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    }

    for (const th of all('th[data-sort]')) {
        const button = document.createElement('button');
        button.type = 'button';
        button.textContent = th.textContent;
        button.addEventListener('click', () => sort(th));
        th.replaceChildren(button);
    }

    // ---- containers: one stop of the tab key for each size, arrows within ----

    function tell(cell) {
        const detail = cell.closest('section').querySelector('.detail');
        detail.textContent = cell.title;
        detail.hidden = false;
    }

    for (const list of all('.phv')) {
        const cells = all('.c:not(.free)', list);
        cells.forEach((cell, i) => {
            cell.tabIndex = i ? -1 : 0;
            cell.addEventListener('focus', () => tell(cell));
            cell.addEventListener('click', () => tell(cell));
            cell.addEventListener('keydown', event => {
                const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
                const next = step && cells[i + step];
                if (!next)
                    return;
                event.preventDefault();
                cell.tabIndex = -1;
                next.tabIndex = 0;
                next.focus();
            });
        });
    }
    document.documentElement.dataset.ready = 'yes';
})();
