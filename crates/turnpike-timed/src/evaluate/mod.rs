//! Executes expressions and statements on the cells of a state.
