//! Tests of the evaluator: tables of expressions and updates with their values and faults.
