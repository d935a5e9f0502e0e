// SPDX-License-Identifier: Apache-2.0
// Shows the events of a running switch. All text of others becomes text nodes: nothing here makes markup of a string.
'use strict';
(function () {
    const POINTS = 120; // of a chart: a minute
    const CELLS = 1024; // of a map of slots; of a job with more, a cell stands for several
    const SVG = 'http://www.w3.org/2000/svg';
    const id = name => document.getElementById(name);
    let program = null;   // the last "program"
    let now = null;       // the last "now"
    let before = null;    // the one before it
    const history = new Map();   // name of a chart: its last values
    const waiting = new Map();   // job, slot, version: who was there, and since when
    const queues_seen = new Map();
    let units = [];       // of the map of stages: {name, node}

    // ---- making elements ----

    function element(tag, name, text) {
        const e = document.createElement(tag);
        if (name)
            e.className = name;
        if (text !== undefined)
            e.textContent = text;
        return e;
    }

    function set(e, text) {
        if (e.textContent !== text)
            e.textContent = text;
    }

    // The children of 'parent' become one for each item, in order. Those with a key that was there stay the same
    // elements, so that a focus or a selection is kept.
    function list(parent, items, key, make, update) {
        const old = new Map(Array.from(parent.children).map(e => [e.dataset.key, e]));
        let at = parent.firstElementChild;
        for (const item of items) {
            const k = String(key(item));
            let e = old.get(k);
            if (!e) {
                e = make(item);
                e.dataset.key = k;
            }
            old.delete(k);
            update(e, item);
            if (e === at)
                at = at.nextElementSibling;
            else
                parent.insertBefore(e, at);
        }
        for (const e of old.values())
            e.remove();
    }

    // A name that a line may be broken in, after its dots.
    function broken(e, name) {
        for (const part of name.split(/(?<=[._])/))
            e.append(part, element('wbr'));
        return e;
    }

    // ---- lists in an order ----

    const orders = new Map(); // of a list: what its order is by, and whether it goes down

    function ordered(name, items) {
        const order = orders.get(name);
        if (!order)
            return items;
        const sign = order.down ? -1 : 1;
        return Array.from(items).sort((a, b) => {
            const x = a[order.by], y = b[order.by];
            return sign * (typeof x === 'string' ? x.localeCompare(y) : (x ?? -1) - (y ?? -1));
        });
    }

    for (const th of document.querySelectorAll('th[data-sort]')) {
        const button = element('button', '', th.textContent), table = th.closest('table');
        button.type = 'button';
        button.addEventListener('click', () => {
            const text = th.classList.contains('name'), was = th.getAttribute('aria-sort');
            const down = was ? was === 'ascending' : !text;
            for (const other of table.querySelectorAll('th[data-sort]'))
                other.removeAttribute('aria-sort');
            th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
            orders.set(table.tBodies[0].id, {by: th.dataset.sort, down});
            if (now)
                show_lists();
        });
        th.replaceChildren(button);
    }

    // ---- numbers ----

    function number(v) {
        if (v < 1000)
            return v < 10 && v % 1 >= 0.05 ? v.toFixed(1) : String(Math.round(v));
        const units = ['', 'k', 'M', 'G', 'T', 'P', 'E'];
        let i = 0;
        for (; v >= 999.5 && i + 1 < units.length; i++)
            v /= 1000;
        return v.toFixed(v < 9.995 ? 2 : v < 99.95 ? 1 : 0) + units[i];
    }

    const whole = v => Number(v).toLocaleString('en');
    const seconds = s => s < 100 ? s.toFixed(1) + ' s' : Math.round(s) + ' s';
    const few = (n, one, many) => n + ' ' + (n === 1 ? one : many);

    // ---- charts ----

    // Once for each event, however often it is shown.
    function remember(name, value) {
        const values = history.get(name) || [];
        if (values.clock === now.top.clock)
            return values;
        values.clock = now.top.clock;
        values.push(value);
        if (values.length > POINTS)
            values.shift();
        history.set(name, values);
        return values;
    }

    function chart(name) {
        const svg = document.createElementNS(SVG, 'svg');
        svg.setAttribute('class', name);
        svg.setAttribute('viewBox', '0 0 ' + (POINTS - 1) + ' 24');
        svg.setAttribute('preserveAspectRatio', 'none');
        svg.setAttribute('aria-hidden', 'true');
        for (const kind of ['area', 'line', 'line second']) {
            const line = document.createElementNS(SVG, kind === 'area' ? 'polygon' : 'polyline');
            line.setAttribute('class', kind);
            svg.append(line);
        }
        return svg;
    }

    // One or two lines in one scale; the newest value is at the right.
    function draw(svg, first, second) {
        const most = Math.max(1e-9, ...first, ...(second || []));
        const points = values => values.map((v, i) =>
            (POINTS - values.length + i) + ',' + (22.5 - 21 * v / most).toFixed(1)).join(' ');
        const [area, line, other] = svg.children, from = POINTS - first.length;
        area.setAttribute('points', from + ',24 ' + points(first) + ' ' + (POINTS - 1) + ',24');
        line.setAttribute('points', points(first));
        other.setAttribute('points', second ? points(second) : '');
    }

    // ---- head ----

    const FIGURES = [
        ['received', top => top.rx_packets_per_second, 'pkt/s', top => number(top.rx_bits_per_second) + 'bit/s'],
        ['sent', top => top.tx_packets_per_second, 'pkt/s', top => number(top.tx_bits_per_second) + 'bit/s'],
        ['summed or taken in', top => top.consumed_per_second, 'pkt/s', () => 'by the program'],
        ['recirculated', top => top.recirculated_per_second, 'pkt/s', () => ''],
        ['dropped', top => top.drops_per_second, 'pkt/s', () => ''],
        ['inside', top => top.inside, 'packets', () => 'in its queues'],
    ];

    function make_figure() {
        const e = element('div', 'figure');
        e.append(element('dt'), element('dd'));
        const value = element('b'), unit = element('span', 'unit-of'), more = element('small');
        e.children[1].append(value, unit, more);
        e.append(chart('spark'));
        return e;
    }

    function show_figures(top) {
        list(id('figures'), FIGURES, f => f[0], make_figure, (e, [name, value, unit, more]) => {
            const v = value(top);
            set(e.children[0], name);
            set(e.querySelector('b'), number(v));
            set(e.querySelector('.unit-of'), ' ' + unit);
            set(e.querySelector('small'), more(top));
            e.classList.toggle('over', name === 'dropped' && v > 0);
            draw(e.querySelector('svg'), remember('figure ' + name, v));
        });
        const s = now.stats;
        set(id('equation'), 'received ' + whole(s.rx_packets) + ' + generated ' + whole(s.generated) + ' + copies ' +
            whole(s.copies) + ' = sent ' + whole(s.tx_packets) + ' + dropped ' + whole(s.dropped) + ' + inside ' +
            whole(s.inside));
    }

    function show_state(kind, text) {
        const e = id('state');
        set(e, text);
        e.className = 'answer ' + kind;
    }

    // ---- alarms ----

    function show_alarms(top) {
        const alarms = top.alarms || [];
        id('alarms').hidden = alarms.length === 0;
        list(id('alarm-list'), alarms, a => a.alarm + '\n' + a.what, () => {
            const e = element('article', 'violation alarm');
            e.append(element('h3'), element('p'));
            return e;
        }, (e, a) => {
            e.dataset.alarm = a.alarm;
            set(e.children[0], a.text);
            set(e.children[1], a.alarm + ', for ' + seconds(Math.max(0, (top.clock - a.since) / 1e9)));
        });
        if (alarms.length)
            show_state('bad', few(alarms.length, 'alarm', 'alarms'));
        else
            show_state('good', 'no alarms');
        document.title = (alarms.length ? '(' + alarms.length + ') ' : '') + name_of_program() + ' - Silken';
    }

    function name_of_program() {
        const path = now.top.program;
        return path.slice(path.lastIndexOf('/') + 1) || path;
    }

    // ---- jobs ----

    function port_name(port) {
        const p = now.top.ports.find(p => p.port === port);
        return 'port ' + port + (p && p.name ? ' ' + p.name : '');
    }

    // Since when the slot waits as it does, as far as this page has seen it.
    function since(job, slot, version, present) {
        const key = job + ' ' + slot + ' ' + version, old = waiting.get(key);
        const w = old && old.present === present ? old : {present, since: now.top.clock};
        w.seen = now.top.clock;
        waiting.set(key, w);
        return (now.top.clock - w.since) / 1e9;
    }

    const in_bits = (bits, i) => Math.floor(bits / Math.pow(2, i)) % 2 === 1;

    function worker_list(bits, size, wanted) {
        const found = [];
        for (let i = 0; i < size; i++)
            if (in_bits(bits, i) === wanted)
                found.push(i);
        return found;
    }

    function who(job, numbers) {
        return numbers.map(n => {
            const w = job.workers.find(w => w.worker === n);
            return 'worker ' + n + (w ? ' (' + w.ip + ', ' + port_name(w.port) + ')' : ' (not registered)');
        }).join(', ');
    }

    function slot_text(job, w, size) {
        const present = worker_list(w.present, size, true), missing = worker_list(w.present, size, false);
        return 'Slot ' + w.slot + ', version ' + w.version + ', has ' +
            (present.length ? (present.length === 1 ? 'worker ' : 'workers ') + present.join(', ') : 'no worker') +
            ' and waits for ' + who(job, missing) + ', for ' + seconds(w.age) + '.';
    }

    // The cell of an age: waiting is what slots do all the time, for a moment.
    const age_class = age => age < 0 ? 'free' : age < 1 ? 'young' : age < 3 ? 'waits' : 'stuck';

    function make_cell() {
        const e = element('li', 'slot free');
        e.tabIndex = -1;
        e.addEventListener('focus', () => {
            for (const c of e.parentElement.children)
                c.tabIndex = c === e ? 0 : -1;
            e.parentElement.dataset.chosen = e.dataset.key;
            show_chosen(e.parentElement);
        });
        e.addEventListener('mouseenter', () => {
            e.parentElement.dataset.over = e.dataset.key;
            show_chosen(e.parentElement);
        });
        return e;
    }

    // What the line below a map says: of the slot under the mouse, of the chosen one, or of the oldest.
    function show_chosen(map) {
        const key = map.dataset.over || map.dataset.chosen;
        const cell = key !== undefined ? map.children[Number(key)] : undefined;
        const text = cell ? cell.dataset.text : map.dataset.oldest;
        set(map.nextElementSibling, text || 'No slot waits.');
    }

    function move(event) {
        const map = event.currentTarget, cells = map.children, at = Array.prototype.indexOf.call(cells, document.activeElement);
        if (at < 0)
            return;
        const top = cells[0].offsetTop;
        let columns = 0;
        while (columns < cells.length && cells[columns].offsetTop === top)
            columns++;
        const step = {ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns, Home: -at,
                      End: cells.length - 1 - at}[event.key];
        const next = step !== undefined && cells[at + step];
        if (step === undefined)
            return;
        event.preventDefault();
        if (next)
            next.focus();
    }

    function show_map(e, job, slots) {
        const map = e.querySelector('.slots');
        const share = Math.ceil(slots.slots / CELLS), cells = [];
        let oldest = null;
        for (let i = 0; i < Math.ceil(slots.slots / share); i++)
            cells.push({number: i, list: []});
        for (const [slot, version, present] of slots.waiting) {
            const w = {slot, version, present, age: since(job.name, slot, version, present)};
            cells[Math.floor(slot / share)].list.push(w);
            if (!oldest || w.age > oldest.age)
                oldest = w;
        }
        map.dataset.oldest = oldest ? slot_text(job, oldest, slots.size) : '';
        list(map, cells, c => c.number, make_cell, (cell, c) => {
            const first = c.number * share, last = Math.min(first + share, slots.slots) - 1;
            const name = share === 1 ? 'Slot ' + first : 'Slots ' + first + ' to ' + last;
            const age = Math.max(-1, ...c.list.map(w => w.age));
            const text = c.list.length ? c.list.slice(0, 4).map(w => slot_text(job, w, slots.size)).join(' ')
                : name + (share === 1 ? ' is free.' : ' are free.');
            cell.className = 'slot ' + age_class(age);
            cell.dataset.slot = first;
            cell.dataset.text = text;
            cell.setAttribute('aria-label', text);
            show_parts(cell, c.list[0], share === 1 && slots.size <= 8 ? slots.size : 0);
        });
        if (!Array.from(map.children).some(c => c.tabIndex === 0) && map.firstElementChild)
            map.firstElementChild.tabIndex = 0;
        show_chosen(map);
        set(e.querySelector('.more'), slots.more ? 'and ' + slots.more + ' more slots wait' : '');
    }

    // A mark for each worker: its part is there, or missing.
    function show_parts(cell, w, size) {
        const parts = w ? size : 0;
        while (cell.children.length > parts)
            cell.lastElementChild.remove();
        while (cell.children.length < parts)
            cell.append(element('i'));
        for (let i = 0; i < parts; i++)
            cell.children[i].className = in_bits(w.present, i) ? 'in' : 'out';
    }

    function make_job() {
        const e = element('article', 'job');
        const head = element('h3');
        head.append(element('span', 'job-name'), element('span', 'answer'), element('small'));
        const workers = element('ul', 'workers');
        const map = element('ol', 'slots');
        map.setAttribute('role', 'list');
        map.setAttribute('aria-label', 'Slots');
        map.addEventListener('keydown', move);
        map.addEventListener('mouseleave', () => {
            delete map.dataset.over;
            show_chosen(map);
        });
        e.append(head, element('p', 'straggler-line'), workers, map, element('p', 'detail-line'), element('p', 'more hint'));
        const hold = element('div', 'hold');
        hold.append(element('span', 'track'), element('span', 'value'));
        hold.firstElementChild.append(element('span'));
        e.append(hold);
        return e;
    }

    function make_worker() {
        const e = element('li', 'worker');
        e.append(element('b'), element('span', 'name'), element('span', 'silent'), element('span', 'missing'));
        return e;
    }

    function show_workers(e, job, straggler) {
        list(e.querySelector('.workers'), job.workers || [], w => w.worker, make_worker, (li, w) => {
            const late = straggler && straggler.worker === w.worker;
            li.classList.toggle('straggler', Boolean(late));
            li.dataset.worker = w.worker;
            set(li.children[0], 'worker ' + w.worker);
            set(li.children[1], w.port === undefined ? w.ip : w.ip + ', ' + port_name(w.port));
            set(li.children[2], w.idle_ms === undefined ? 'never heard from' : w.idle_ms < 1000 ? 'sends' :
                'silent for ' + seconds(w.idle_ms / 1000));
            set(li.children[3], w.missing && straggler ? few(w.missing, 'slot waits', 'slots wait') + ' for it' : '');
        });
    }

    const STATES = {running: 'good', idle: 'plain', waiting: 'doubt', stuck: 'bad'};

    function show_job(e, job) {
        const brief = now.top.jobs.find(j => j.job === job.name && j.kind === job.kind) || {};
        const slots = job.kind === 'switchml' ? now.slots.find(s => s.name === job.name) : undefined;
        const state = e.querySelector('.answer'), s = brief.straggler, line = e.querySelector('.straggler-line');
        e.dataset.job = job.name;
        set(e.querySelector('.job-name'), 'job ' + job.name);
        set(state, brief.state || '');
        state.className = 'answer ' + (STATES[brief.state] || 'plain');
        set(e.querySelector('small'), job.kind + (brief.size ? ', ' + brief.workers + ' of ' + few(brief.size, 'worker', 'workers') : '') +
            ', ' + number(brief.packets_per_second || 0) + ' pkt/s' +
            (brief.waiting ? ', ' + whole(brief.waiting) + ' waiting, ' + Math.round(100 * brief.complete) + ' % of their parts there' : ''));
        // a worker is waited for all the time, for a moment
        line.hidden = !s || (s.silent_seconds !== undefined && s.silent_seconds < 0.5 && brief.state === 'running');
        set(line, s ? few(s.slots, 'slot waits', 'slots wait') + ' for worker ' + s.worker + ' (' + s.ip + '), ' +
            (s.silent_seconds === undefined ? 'never heard from' : 'silent for ' + seconds(s.silent_seconds)) : '');
        show_workers(e, job, line.hidden ? null : s);
        for (const name of ['.slots', '.detail-line'])
            e.querySelector(name).hidden = !slots;
        if (slots)
            show_map(e, job, slots);
        const hold = e.querySelector('.hold');
        hold.hidden = job.held === undefined;
        if (!hold.hidden) {
            hold.querySelector('.track span').style.setProperty('width', Math.min(100, 100 * job.held / (job.of || 1)) + '%');
            set(hold.querySelector('.value'), 'holds ' + whole(job.held) + ' of ' + whole(job.of) +
                ' aggregators; the oldest was used ' + seconds(job.oldest_ms / 1000) + ' ago');
        }
    }

    function show_jobs() {
        list(id('job-list'), now.jobs, j => j.kind + ' ' + j.name, make_job, show_job);
        id('jobs').classList.toggle('empty-section', now.jobs.length === 0);
        for (const [key, w] of waiting)
            if (w.seen !== now.top.clock)
                waiting.delete(key);
    }

    // ---- ports ----

    const cell = (row, name, text) => {
        const td = element('td', name, text);
        row.append(td);
        return td;
    };

    function tracer(text, what, value) {
        const b = element('button', 'arm', text);
        b.type = 'button';
        b.addEventListener('click', () => trace(what, value));
        return b;
    }

    function make_port(p) {
        const row = element('tr');
        cell(row, 'name').append(tracer('', 'port', p.port));
        for (const kind of ['text', '', 'soft', '', 'soft'])
            cell(row, kind);
        cell(row, 'chart').append(chart('spark two'));
        cell(row, 'reason');
        cell(row, '');
        return row;
    }

    const is_quiet = p => p.rx_packets_per_second + p.tx_packets_per_second + p.drops_per_second + p.queue_cells === 0;

    function show_port(row, p) {
        const c = row.cells, button = row.querySelector('button');
        const title = 'Show the next packet that port ' + p.port + ' receives';
        set(button, p.port + ' ' + (p.name || p.device));
        button.disabled = !program || !program.trace;
        button.title = button.disabled ? '' : title;
        set(c[1], p.link);
        c[1].className = 'text ' + (p.link === 'down' ? 'bad-text' : 'good-text');
        set(c[2], number(p.rx_packets_per_second));
        set(c[3], p.rx_bits_per_second ? number(p.rx_bits_per_second) + 'bit/s' : '');
        set(c[4], number(p.tx_packets_per_second));
        set(c[5], p.tx_bits_per_second ? number(p.tx_bits_per_second) + 'bit/s' : '');
        draw(row.querySelector('svg'), remember('rx ' + p.port, p.rx_packets_per_second),
             remember('tx ' + p.port, p.tx_packets_per_second));
        set(c[7], p.drops_per_second > 0 ? number(p.drops_per_second) : '');
        c[7].title = p.drop_reason;
        set(c[8], p.queue_cells ? whole(p.queue_cells) : '');
    }

    function show_ports(top) {
        const many = top.ports.length > 24, shown = many ? top.ports.filter(p => !is_quiet(p)) : top.ports;
        list(id('port-list'), ordered('port-list', shown), p => p.port, make_port, show_port);
        set(id('quiet'), shown.length < top.ports.length ?
            few(top.ports.length - shown.length, 'port', 'ports') + ' without traffic not shown' : '');
    }

    // ---- drops ----

    function show_drops(top) {
        const rows = [];
        for (const d of top.drops) {
            rows.push({key: d.reason, reason: d.reason, rate: d.per_second, total: d.total,
                       where: 'port ' + d.port + (d.name ? ' ' + d.name : '')});
            for (const q of top.queue_drops.filter(q => q.reason === d.reason))
                rows.push({key: [d.reason, q.port, q.queue, q.colour].join(' '), reason: '', rate: q.per_second,
                           total: q.total, where: port_name(q.port) + ', queue ' + q.queue + ', ' + q.colour});
        }
        list(id('drop-list'), rows, r => r.key, () => {
            const row = element('tr');
            for (const kind of ['name', '', '', 'text'])
                cell(row, kind);
            return row;
        }, (row, r) => {
            set(row.cells[0], r.reason);
            set(row.cells[1], number(r.rate));
            set(row.cells[2], whole(r.total));
            set(row.cells[3], r.where);
        });
        id('drops').classList.toggle('empty-section', rows.length === 0);
    }

    // ---- queues ----

    function show_queues() {
        const depths = new Map();
        for (const p of now.queues)
            for (const q of p.queues) {
                const key = 'port ' + p.port + (p.name ? ' ' + p.name : '') + ', queue ' + q.queue;
                depths.set(key, q.cells || 0);
                queues_seen.set(key, (queues_seen.get(key) || 0) + (q.cells ? 1 : 0));
            }
        const shown = Array.from(queues_seen).filter(([, times]) => times > 0).map(([key]) => key);
        list(id('queue-list'), shown, key => key, () => {
            const e = element('figure', 'queue');
            e.append(element('figcaption'), chart('tall-chart'));
            return e;
        }, (e, key) => {
            const depth = depths.get(key) || 0, values = remember('queue ' + key, depth);
            set(e.children[0], key + ': ' + whole(depth) + ' cells, at most ' + whole(Math.max(...values)));
            draw(e.children[1], values);
        });
        id('queues').classList.toggle('empty-section', shown.length === 0);
    }

    // ---- the pipeline ----

    // Names of tables without what all of a pipeline's gress begin with: the map says it by colour.
    function shorten(pipe) {
        for (const gress of ['ingress', 'egress']) {
            const tables = pipe.units.filter(u => u.kind === 'table' && u.gress === gress);
            const names = tables.map(u => u.name.split('.'));
            let same = 0;
            while (names.length && names.every(n => n.length > same + 1 && n[same] === names[0][same]))
                same++;
            tables.forEach((u, i) => { u.shown = names[i].slice(same).join('.'); });
        }
    }

    function make_unit(u) {
        const li = element('li'), live = u.kind === 'table' && program.trace;
        const e = element(live ? 'button' : 'span', 'unit ' + u.kind + ' ' + u.gress);
        e.title = u.name;
        e.append(broken(element('span', 'unit-name'), u.shown || u.name));
        if (u.kind === 'table') {
            e.append(element('small', 'rate'));
            e.dataset.table = u.name;
        }
        if (live) {
            e.type = 'button';
            e.title = u.name + ': show the next packet that looks it up';
            e.addEventListener('click', () => trace('table', u.name));
        }
        units.push({name: u.name, node: e});
        li.append(e);
        return li;
    }

    function small_bar(title, used, limit) {
        const e = element('div', 'bar ' + (used > limit ? 'over' : used * 10 > limit * 8 ? 'much' : 'some'));
        const track = element('span', 'track'), fill = element('span');
        fill.style.setProperty('width', Math.min(100, 100 * used / (limit || 1)) + '%');
        track.append(fill);
        e.title = used + ' of ' + limit + ' ' + title;
        e.append(element('span', 'label', title), track, element('span', 'value', String(used)));
        return e;
    }

    function make_stage(pipe, stage, limit) {
        const here = pipe.units.filter(u => u.stages.includes(stage));
        const li = element('li', 'stage' + (here.length ? '' : ' empty') + (stage >= limit ? ' over' : ''));
        li.append(element('h4', 'number', 'Stage ' + stage));
        for (const gress of ['ingress', 'egress']) {
            const mine = here.filter(u => u.gress === gress);
            if (!mine.length)
                continue;
            const ul = element('ul');
            mine.forEach(u => ul.append(make_unit(u)));
            li.append(element('h5', gress, gress), ul);
        }
        const used = (pipe.used || []).find(s => s.stage === stage), bars = element('div', 'bars');
        for (const [title, key] of [['SRAM', 'sram'], ['TCAM', 'tcam'], ['ALUs', 'stateful_alus']])
            if (used)
                bars.append(small_bar(title, used[key], pipe.limits[key]));
        li.append(bars);
        return li;
    }

    function show_program() {
        const chip = program.chip, box = id('chip');
        units = [];
        box.replaceChildren();
        set(id('version'), program.version);
        id('no-chip').hidden = Boolean(chip);
        set(id('no-chip'), 'There is no map of stages: ' + program.error);
        for (const pipe of chip ? chip.pipelines : []) {
            const used = pipe.units.flatMap(u => u.stages), last = Math.max(chip.stages_limit - 1, ...used);
            if (chip.pipelines.length > 1)
                box.append(element('h3', '', 'Pipeline ' + pipe.name));
            shorten(pipe);
            const map = element('ol', 'map');
            map.start = 0;
            for (let s = 0; s <= last; s++)
                map.append(make_stage(pipe, s, chip.stages_limit));
            box.append(map);
        }
        if (now)
            show_tables();
    }

    // ---- tables ----

    // Since the last event, a second; null: not counted.
    function rate_of(t, key) {
        const old = before && before.tables.find(o => o.name === t.name), time = old && (now.top.clock - before.top.clock) / 1e9;
        if (t[key] === null || !old || old[key] === null || !(time > 0))
            return t[key] === null ? null : 0;
        return (t[key] >= old[key] ? t[key] - old[key] : t[key]) / time;
    }

    function stages_of(name) {
        for (const pipe of program && program.chip ? program.chip.pipelines : [])
            for (const u of pipe.units)
                if (u.name === name)
                    return u.stages.join(', ');
        return '';
    }

    function make_table(t) {
        const row = element('tr');
        cell(row, 'name').append(tracer('', 'table', t.name));
        for (const kind of ['', '', 'soft'])
            cell(row, kind);
        const full = cell(row, 'text full'), track = element('span', 'track');
        track.append(element('span'));
        full.append(track);
        cell(row, '');
        cell(row, '');
        cell(row, 'chart').append(chart('spark two'));
        cell(row, 'soft');
        return row;
    }

    function show_table(row, t) {
        const c = row.cells, button = row.querySelector('button');
        set(button, t.name);
        button.disabled = !program || !program.trace;
        button.title = button.disabled ? '' : 'Show the next packet that looks it up';
        row.dataset.table = t.name;
        set(c[1], stages_of(t.name));
        set(c[2], whole(t.entries));
        set(c[3], whole(t.size));
        c[4].querySelector('.track span').style.setProperty('width', Math.min(100, 100 * t.share) + '%');
        set(c[5], t.hit_rate === null ? 'not counted' : number(t.hit_rate));
        set(c[6], t.miss_rate === null ? '' : number(t.miss_rate));
        draw(row.querySelector('svg'), remember('hits ' + t.name, t.hit_rate || 0), remember('misses ' + t.name, t.miss_rate || 0));
        set(c[8], t.hits === null ? '' : whole(t.hits));
    }

    function show_tables() {
        const rates = new Map();
        for (const t of now.tables) {
            t.hit_rate = rate_of(t, 'hits');
            t.miss_rate = rate_of(t, 'misses');
            t.share = t.entries / (t.size || 1);
            rates.set(t.name, t.hit_rate === null ? null : t.hit_rate + t.miss_rate);
        }
        list(id('table-list'), ordered('table-list', now.tables), t => t.name, make_table, show_table);
        for (const u of units) {
            const r = rates.get(u.name), small = u.node.querySelector('.rate');
            if (!small)
                continue;
            const part = r ? Math.min(1, Math.log10(1 + r) / 8) : 0;
            u.node.style.setProperty('--f', (100 * part).toFixed(1) + '%');
            u.node.classList.toggle('busy', Boolean(r));
            set(small, r ? number(r) + '/s' : '');
        }
    }

    // ---- a packet's way ----

    let asking = null; // of the trace that is waited for

    const REASONS = {
        403: 'This switch does not let its page trace packets ("trace" in "page" of its configuration).',
        503: 'Too many pages are open.',
    };

    function trace(what, value) {
        const dialog = id('trace'), thing = what === 'port' ? port_name(value) : value;
        set(id('trace-title'), what === 'port' ? 'The next packet that ' + thing + ' receives' :
            'The next packet that looks up ' + thing);
        set(id('trace-state'), 'asking');
        id('way').replaceChildren();
        if (asking)
            asking.abort();
        asking = new AbortController();
        if (!dialog.open)
            dialog.showModal();
        follow('/trace?' + new URLSearchParams({[what]: value}), asking.signal);
    }

    async function follow(url, signal) {
        const decoder = new TextDecoder();
        let text = '';
        try {
            const reply = await fetch(url, {headers: {'X-Silken': 'page'}, signal});
            if (!reply.ok) {
                set(id('trace-state'), REASONS[reply.status] || 'The switch refuses this (' + reply.status + ').');
                return;
            }
            const reader = reply.body.getReader();
            for (let part = await reader.read(); !part.done; part = await reader.read()) {
                text += decoder.decode(part.value, {stream: true});
                const events = text.split('\n\n');
                text = events.pop();
                events.forEach(trace_event);
            }
        } catch (e) {
            if (e.name !== 'AbortError')
                set(id('trace-state'), 'The connection to the switch was lost.');
        }
    }

    function trace_event(text) {
        const lines = text.split('\n'), name = lines.find(l => l.startsWith('event: '));
        const data = lines.find(l => l.startsWith('data: '));
        if (!name || !data)
            return;
        const value = JSON.parse(data.slice(6));
        if (name === 'event: state')
            set(id('trace-state'), value.state === 'compiling' ? 'The checked build of the program is being compiled.' :
                'Waiting for the packet.');
        else if (name === 'event: failed')
            set(id('trace-state'), value.error);
        else if (name === 'event: packet')
            show_way(value);
    }

    // Addresses as people write them; the rest stays as it is.
    function value_text(name, value) {
        if (typeof value !== 'string' || !value.startsWith('0x'))
            return String(value);
        const digits = value.slice(2);
        if (/ipv4.*addr$/.test(name) && digits.length <= 8)
            return digits.padStart(8, '0').match(/../g).map(b => parseInt(b, 16)).join('.');
        if (/(ethernet|mac).*addr$/.test(name) && digits.length <= 12)
            return digits.padStart(12, '0').match(/../g).join(':');
        return digits.length <= 8 && digits.length > 1 ? value + ' (' + parseInt(digits, 16) + ')' : value;
    }

    function pairs_of(e) {
        if (Array.isArray(e))
            return e;
        return Object.entries(e || {});
    }

    function field_list(pairs, prefix) {
        const dl = element('dl', 'fields');
        for (const [name, value] of pairs) {
            const div = element('div');
            div.append(element('dt', '', name), element('dd', '', value_text(prefix + name, value)));
            dl.append(div);
        }
        return dl;
    }

    const said = pairs => pairs_of(pairs).map(([n, v]) => n + ' = ' + value_text(n, v)).join(', ');

    // A step's title, and the fields below it.
    const STEPS = {
        received: e => ['received by port ' + e.port + ', ' + e.length + ' bytes'],
        state: e => ['state ' + e.name],
        extract: e => ['extract ' + e.name, e.fields, e.name + '.'],
        select: e => ['select by ' + said(e.inputs)],
        transition: e => ['to ' + e.name + (e.text ? ' (' + e.text + ')' : '')],
        condition: e => [e.text + ': ' + (e.value ? 'yes' : 'no')],
        table: e => ['table ' + e.name + (e.hit ? ': hit' : ': miss') + ', ' + e.action, {...e.key, ...e.arguments}, ''],
        register: e => ['register ' + e.name + '[' + e.index + '] by ' + e.text,
                        changes(e), ''],
        emit: e => ['emit ' + e.name, e.fields, e.name + '.'],
        switch: e => [[e.name, e.text].filter(Boolean).join(': ')],
        meter: e => ['meter ' + e.name + (e.index !== undefined ? '[' + e.index + ']' : '') + ': ' + said(e.results || e.returns)],
        hash: e => ['hash ' + e.name + ' of ' + said(e.inputs) + (e.results ? ' is ' + said(e.results) : '')],
        checksum: e => ['checksum ' + e.name + ' (' + e.text + ')' + (e.results ? ': ' + said(e.results) : '')],
        value: e => [[e.name, e.text].filter(Boolean).join(' ') + (e.results ? ' ' + said(e.results) : '')],
        mirrored: e => ['mirrored by session ' + e.session],
        copy: e => ['a copy for port ' + e.port + ', replication id ' + e.rid],
        recirculated: () => ['recirculated'],
        resubmitted: () => ['resubmitted'],
        violation: e => [e.violation + ': ' + e.message],
        counter: e => ['counter ' + e.name + (e.index !== undefined ? '[' + e.index + ']' : '')],
        wishes: e => ['for the traffic manager: ' + said(e.inputs)],
        dropped: e => ['dropped: ' + e.text],
        sent: e => ['sent to port ' + e.port + ', ' + e.length + ' bytes'],
    };

    function changes(e) {
        const after = new Map(pairs_of(e.after));
        return pairs_of(e.before).map(([n, v]) =>
            [n, after.get(n) === v ? value_text(n, v) : value_text(n, v) + ' → ' + value_text(n, after.get(n))])
            .concat(pairs_of(e.returns).map(([n, v]) => ['gives ' + n, value_text(n, v)]));
    }

    function make_step(e) {
        const li = element('li', 'step ' + (e.event in STEPS ? e.event : 'other'));
        const [title, fields, prefix] = (STEPS[e.event] || (e => [[e.event, e.name, e.text].filter(Boolean).join(' ')]))(e);
        li.append(element('span', 'step-title', title));
        if (e.at)
            li.append(element('span', 'place', e.at.slice(e.at.lastIndexOf('/') + 1)));
        const pairs = pairs_of(fields);
        if (pairs.length)
            li.append(field_list(pairs, prefix));
        if (e.event === 'table')
            li.classList.toggle('miss', !e.hit);
        return li;
    }

    function show_way(value) {
        const way = id('way'), shown = value.events.filter(e => !['ingress', 'egress', 'parsed', 'deparse', 'advance'].includes(e.event));
        let part = null, list = null;
        set(id('trace-state'), few(shown.length, 'step', 'steps') +
            (value.differing ? '; the switch acted differently from this' : ''));
        for (const e of shown) {
            const name = e.in + (e.pass > 1 ? ', pass ' + e.pass : '');
            if (name !== part) {
                part = name;
                list = element('ol', 'steps ' + e.in);
                way.append(element('h3', e.in, name), list);
            }
            list.append(make_step(e));
        }
    }

    id('trace-close').addEventListener('click', () => id('trace').close());
    id('trace').addEventListener('close', () => {
        if (asking)
            asking.abort();
        asking = null;
    });

    // ---- events ----

    function show_lists() {
        show_ports(now.top);
        show_drops(now.top);
        show_tables();
    }

    function show() {
        show_figures(now.top);
        show_alarms(now.top);
        show_jobs();
        show_queues();
        show_lists();
        set(id('program'), name_of_program());
        id('program').title = now.top.program;
        document.documentElement.dataset.ready = 'yes';
    }

    const source = new EventSource('/events');
    source.addEventListener('program', event => {
        program = JSON.parse(event.data);
        show_program();
    });
    source.addEventListener('now', event => {
        before = now;
        now = JSON.parse(event.data);
        show();
    });
    source.addEventListener('error', () => {
        show_state('doubt', 'not connected; trying again');
        document.title = 'not connected - Silken';
    });
})();
