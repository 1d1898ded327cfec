//! Comparisons over measures, such as `eating >= 2 && waiting == 0`: the state language of models that have none.
