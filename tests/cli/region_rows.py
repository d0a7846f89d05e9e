"""Rows of marks that collectors recorded."""

import collections
import decimal


def check_nesting(test, rows):
    """Each stop ends the call of its thread that began last. Returns the threads, the deepest nesting, and the calls without a stop."""
    opened, depth = collections.defaultdict(list), 0
    # A thread that uses up the space which another one left has later marks before earlier ones.
    for row in sorted(rows, key=lambda row: decimal.Decimal(row["timestamp"])):
        stack = opened[row["thread_id"]]
        if row["position"] == "0":
            stack.append(row["code_block_name"])
        else:
            test.assertEqual(stack.pop(), row["code_block_name"])
        depth = max(depth, len(stack))
    return set(opened), depth, [name for stack in opened.values() for name in stack]
