# SPDX-License-Identifier: Apache-2.0
"""A static function's name is one file's alone (harness/rooms/functions.py), and C has at most 100 columns
(harness/rooms/columns.py)."""
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import columns  # noqa: E402
import functions  # noqa: E402
import tally  # noqa: E402

TEXT = """
#include <stdio.h>
#define EACH(x) static void of_a_macro(x)
/* static void of_a_comment(void) {} */
static const char *text = "static void of_a_string(void) {";
static int (*pointer)(int) = NULL;
static const struct ops ops = {.open = opened(1)};
typedef int (*typed)(int);
_Static_assert(sizeof(int) == 4, "size");
static int declared(int a);
int exported(int a);
int exported(int a) {
    if (a) {
        static int inside;
        return called(inside);
    }
    return 0;
}
static __attribute__((format(printf, 1, 2))) void said(const char *f, ...) {
}
static inline struct point made_of(struct pair *of[static 2],
                                   int (*call)(void)) {
    return (struct point){0};
}
static int declared(int a) {
    return '{' + a;
}
struct point {
    int (*member)(void);
};
"""


class Functions(unittest.TestCase):
    def test_of_a_text(self):
        found = functions.functions(TEXT)
        self.assertEqual([(f.name, f.static, f.defined) for f in found],
                         [("declared", True, False), ("exported", False, False), ("exported", False, True),
                          ("said", True, True), ("made_of", True, True), ("declared", True, True)])
        self.assertEqual([f.line for f in found], [10, 11, 12, 19, 21, 25])

    def told(self, **texts):
        return functions.check({file + ".c": functions.functions(text) for file, text in texts.items()})

    def test_a_name_of_two_files_is_told(self):
        self.assertEqual(self.told(a="static int find(int a);\nstatic int find(int a) {\n}\n",
                                   b="\nstatic void find(void) {\n}\n"),
                         ["a.c:1: b.c:2 has a function 'find', too: put the module's name in front of a static "
                          "function's"])
        # one that is not static has the name first
        self.assertEqual(len(self.told(a="int find(int a) {\n}\n", b="static int find(void) {\n}\n")), 1)
        # one function that a header declares, or two that are none of ours alone
        self.assertEqual(self.told(a="int find(int a) {\n}\n", b="int find(int a);\n"), [])
        self.assertEqual(self.told(a="static int a_find(int a) {\n}\n", b="static int b_find(void) {\n}\n"), [])

    def test_the_tree_keeps_to_it(self):
        of = functions.read(functions.ROOT, functions.product(functions.ROOT))
        self.assertEqual(functions.check(of), [])
        # and is read: its static functions, thousands of them
        self.assertGreater(sum(f.static for found in of.values() for f in found), 5000)


class Columns(unittest.TestCase):
    def test_a_line_that_is_too_long(self):
        for line in ("// " + "word " * 19 + "abc", "    call(" + "a, " * 31 + "b);", " * " + "-" * 98,
                     '    say("' + "x" * 50 + '", ' + "a, " * 20 + ");", '// "' + "x " * 50 + '"'):
            self.assertTrue(columns.too_long(line), line)

    def test_a_line_that_is_not(self):
        for line in ("// " + "word " * 19 + "ab", "    call(1);" + " " * 88 + "\\", "#define A " + "b" * 90 + " \\",
                     '    "' + "00" * 60 + '" \\', '    say("' + "x" * 100 + '"),', "// https://a.example/" + "a" * 100):
            self.assertFalse(columns.too_long(line), line)

    def test_the_tree_keeps_to_them(self):
        self.assertEqual(columns.check(functions.ROOT), [])


if __name__ == "__main__":
    tally.main()
