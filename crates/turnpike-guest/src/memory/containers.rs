//! Strings, trees and lists of C++: the parts of them that are compiled into `libstdc++`, whose
//! accesses are not reported.
//!
//! Each function counts as one access to the object that it is called for, and to its text. Code
//! that uses a string without changing it calls functions that only read. As long as such accesses
//! race with nothing, it makes no difference that they are reported as a whole. Where they race,
//! nothing is proved.

use core::ffi::c_void;
use core::sync::atomic::AtomicUsize;

use turnpike_scheduler::Site;

use super::call::export;
use super::library_calls::{as_a_whole, reads, reads_text, reports_accesses, tell};
use crate::hook::{self, jump, real};

/// What a function does with a string.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// It looks at the pointer to the text, or its length.
    Looks,
    /// It reads the text.
    Reads,
    Changes,
    /// It constructs the string: there is no text yet.
    Makes,
}

/// A function of the library.
struct Function {
    name: &'static str,
    place: AtomicUsize,
    does: Use,
}

/// The beginning of a string: pointer and length of the text. Room for a short text follows.
#[repr(C)]
struct Text {
    text: *const c_void,
    length: usize,
}

/// Bytes of a string.
const SIZE: usize = 32;

/// Reports what a function is about to do, and returns where it is.
unsafe extern "C" fn tell_string(string: *const Text, site: u64, function: &'static Function) -> usize {
    if reports_accesses() {
        let (site, write) = (Site(site), matches!(function.does, Use::Changes | Use::Makes));
        let size = if function.does == Use::Looks { size_of::<Text>() } else { SIZE };
        as_a_whole("a function of std::string", string as *const c_void, size, write, site);
        if matches!(function.does, Use::Reads | Use::Changes) {
            // SAFETY: the caller's string. Read only after the step above, before which another
            // thread may have changed it.
            let Text { text, length } = unsafe { &*string };
            // A short text is in the string itself.
            if (*text as usize).wrapping_sub(string as usize) >= SIZE {
                as_a_whole("a function of std::string", *text, length + 1, write, site);
            }
        }
    }
    hook::resolve(function.name, &function.place)
}

/// Saves the arguments, reports the access, and continues in the library.
#[cfg(target_arch = "x86_64")]
macro_rules! telling {
    ($function:ident) => {
        core::arch::naked_asm!(
            "push rdi",
            "push rsi",
            "push rdx",
            "push rcx",
            "push r8",
            "push r9",
            "sub rsp, 8",
            "mov rsi, [rsp + 56]",
            "lea rdx, [rip + {function}]",
            "call {tell}",
            "add rsp, 8",
            "pop r9",
            "pop r8",
            "pop rcx",
            "pop rdx",
            "pop rsi",
            "pop rdi",
            "jmp rax",
            function = sym $function,
            tell = sym tell_string,
        )
    };
}

#[cfg(target_arch = "aarch64")]
macro_rules! telling {
    ($function:ident) => {
        core::arch::naked_asm!(
            "sub sp, sp, 96",
            "stp x0, x1, [sp]",
            "stp x2, x3, [sp, 16]",
            "stp x4, x5, [sp, 32]",
            "stp x6, x7, [sp, 48]",
            "stp x8, x30, [sp, 64]",
            "mov x1, x30",
            "adrp x2, {function}",
            "add x2, x2, :lo12:{function}",
            "bl {tell}",
            "mov x16, x0",
            "ldp x0, x1, [sp]",
            "ldp x2, x3, [sp, 16]",
            "ldp x4, x5, [sp, 32]",
            "ldp x6, x7, [sp, 48]",
            "ldp x8, x30, [sp, 64]",
            "add sp, sp, 96",
            "br x16",
            function = sym $function,
            tell = sym tell_string,
        )
    };
}

macro_rules! functions {
    ($start:literal $does:ident: $($name:literal)*) => { $(
        const _: () = {
            static FUNCTION: Function = Function {
                name: concat!($start, $name, "\0"),
                place: AtomicUsize::new(0),
                does: Use::$does,
            };
            #[cfg_attr(embedded, unsafe(export_name = concat!($start, $name)))]
            #[unsafe(naked)]
            unsafe extern "C" fn noting() {
                jump!(telling "nop")
            }
            #[unsafe(naked)]
            unsafe extern "C" fn telling() {
                telling!(FUNCTION)
            }
        };
    )* };
}

// Members of `std::string` that may change it.
functions! { "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE" Changes:
        "10_M_destroyEm" "10_M_disposeEv" "10_M_replaceEmmPKcm" "11_M_capacityEm"
        "13_M_set_lengthEm" "13shrink_to_fitEv" "14_M_replace_auxEmmmc" "4swapERS4_" "5clearEv"
        "5eraseEN9__gnu_cxx17__normal_iteratorIPKcS4_EE"
        "5eraseEN9__gnu_cxx17__normal_iteratorIPKcS4_EES9_"
        "5eraseEN9__gnu_cxx17__normal_iteratorIPcS4_EE"
        "5eraseEN9__gnu_cxx17__normal_iteratorIPcS4_EES8_" "5eraseEmm" "6appendEPKc" "6appendEPKcm"
        "6appendERKS4_" "6appendERKS4_mm" "6appendESt16initializer_listIcE" "6appendEmc"
        "6assignEOS4_" "6assignEPKc" "6assignEPKcm" "6assignERKS4_" "6assignERKS4_mm"
        "6assignESt16initializer_listIcE" "6assignEmc"
        "6insertEN9__gnu_cxx17__normal_iteratorIPKcS4_EESt16initializer_listIcE"
        "6insertEN9__gnu_cxx17__normal_iteratorIPKcS4_EEc"
        "6insertEN9__gnu_cxx17__normal_iteratorIPKcS4_EEmc"
        "6insertEN9__gnu_cxx17__normal_iteratorIPcS4_EESt16initializer_listIcE"
        "6insertEN9__gnu_cxx17__normal_iteratorIPcS4_EEc"
        "6insertEN9__gnu_cxx17__normal_iteratorIPcS4_EEmc" "6insertEmPKc" "6insertEmPKcm"
        "6insertEmRKS4_" "6insertEmRKS4_mm" "6insertEmmc"
        "6insertIN9__gnu_cxx17__normal_iteratorIPcS4_EEEEvS9_T_SA_" "6resizeEm" "6resizeEmc"
        "7_M_dataEPc" "7replaceEN9__gnu_cxx17__normal_iteratorIPKcS4_EES9_NS6_IPcS4_EESB_"
        "7replaceEN9__gnu_cxx17__normal_iteratorIPKcS4_EES9_PcSA_"
        "7replaceEN9__gnu_cxx17__normal_iteratorIPKcS4_EES9_RKS4_"
        "7replaceEN9__gnu_cxx17__normal_iteratorIPKcS4_EES9_S8_"
        "7replaceEN9__gnu_cxx17__normal_iteratorIPKcS4_EES9_S8_S8_"
        "7replaceEN9__gnu_cxx17__normal_iteratorIPKcS4_EES9_S8_m"
        "7replaceEN9__gnu_cxx17__normal_iteratorIPKcS4_EES9_S9_S9_"
        "7replaceEN9__gnu_cxx17__normal_iteratorIPKcS4_EES9_St16initializer_listIcE"
        "7replaceEN9__gnu_cxx17__normal_iteratorIPKcS4_EES9_mc"
        "7replaceEN9__gnu_cxx17__normal_iteratorIPcS4_EES8_NS6_IPKcS4_EESB_"
        "7replaceEN9__gnu_cxx17__normal_iteratorIPcS4_EES8_PKc"
        "7replaceEN9__gnu_cxx17__normal_iteratorIPcS4_EES8_PKcSA_"
        "7replaceEN9__gnu_cxx17__normal_iteratorIPcS4_EES8_PKcm"
        "7replaceEN9__gnu_cxx17__normal_iteratorIPcS4_EES8_RKS4_"
        "7replaceEN9__gnu_cxx17__normal_iteratorIPcS4_EES8_S7_S7_"
        "7replaceEN9__gnu_cxx17__normal_iteratorIPcS4_EES8_S8_S8_"
        "7replaceEN9__gnu_cxx17__normal_iteratorIPcS4_EES8_mc" "7replaceEmmPKc" "7replaceEmmPKcm"
        "7replaceEmmRKS4_" "7replaceEmmRKS4_mm" "7replaceEmmmc" "7reserveEm" "7reserveEv"
        "8_M_eraseEmm" "8pop_backEv" "9_M_appendEPKcm" "9_M_assignERKS4_" "9_M_lengthEm"
        "9_M_mutateEmmPKcm" "9push_backEc" "D1Ev" "D2Ev" "aSEOS4_" "aSEPKc" "aSERKS4_"
        "aSESt16initializer_listIcE" "aSEc" "pLEPKc" "pLERKS4_" "pLESt16initializer_listIcE" "pLEc"
}

// Members of `std::string` that construct one.
functions! { "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE" Makes:
        "12_M_constructEmc"
        "12_M_constructIN9__gnu_cxx17__normal_iteratorIPKcS4_EEEEvT_SB_St20forward_iterator_tag"
        "12_M_constructIN9__gnu_cxx17__normal_iteratorIPcS4_EEEEvT_SA_St20forward_iterator_tag"
        "12_M_constructIPKcEEvT_S8_St20forward_iterator_tag"
        "12_M_constructIPcEEvT_S7_St20forward_iterator_tag" "18_M_construct_aux_2Emc"
        "C1ENS4_12__sv_wrapperERKS3_" "C1EOS4_" "C1EOS4_RKS3_" "C1EPKcRKS3_" "C1EPKcmRKS3_"
        "C1ERKS3_" "C1ERKS4_" "C1ERKS4_RKS3_" "C1ERKS4_mRKS3_" "C1ERKS4_mm" "C1ERKS4_mmRKS3_"
        "C1ESt16initializer_listIcERKS3_" "C1EmcRKS3_" "C1Ev"
        "C1IN9__gnu_cxx17__normal_iteratorIPcS4_EEvEET_SA_RKS3_" "C1IPKcvEET_S8_RKS3_"
        "C1IPcvEET_S7_RKS3_" "C2ENS4_12__sv_wrapperERKS3_" "C2EOS4_" "C2EOS4_RKS3_" "C2EPKcRKS3_"
        "C2EPKcmRKS3_" "C2ERKS3_" "C2ERKS4_" "C2ERKS4_RKS3_" "C2ERKS4_mRKS3_" "C2ERKS4_mm"
        "C2ERKS4_mmRKS3_" "C2ESt16initializer_listIcERKS3_" "C2EmcRKS3_" "C2Ev"
        "C2IN9__gnu_cxx17__normal_iteratorIPcS4_EEvEET_SA_RKS3_" "C2IPKcvEET_S8_RKS3_"
        "C2IPcvEET_S7_RKS3_"
}

// Members of `std::string` that give access to its text.
functions! { "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE" Looks:
        "2atEm" "3endEv" "4backEv" "4dataEv" "4rendEv" "5beginEv" "5frontEv" "6rbeginEv" "ixEm"
}

functions! { "_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE" Looks:
        "11_M_disjunctEPKc" "11_M_is_localEv" "15_M_check_lengthEmmPKc" "2atEm" "3endEv" "4backEv"
        "4cendEv" "4dataEv" "4rendEv" "4sizeEv" "5beginEv" "5c_strEv" "5crendEv" "5emptyEv"
        "5frontEv" "6cbeginEv" "6lengthEv" "6rbeginEv" "7_M_dataEv" "7crbeginEv" "8_M_checkEmPKc"
        "8_M_limitEmm" "8capacityEv" "cvSt17basic_string_viewIcS2_EEv" "ixEm"
}

// Members of `std::string` that read the text.
functions! { "_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE" Reads:
        "12find_last_ofEPKcm" "12find_last_ofEPKcmm" "12find_last_ofERKS4_m" "12find_last_ofEcm"
        "13find_first_ofEPKcm" "13find_first_ofEPKcmm" "13find_first_ofERKS4_m"
        "13find_first_ofEcm" "16find_last_not_ofEPKcm" "16find_last_not_ofEPKcmm"
        "16find_last_not_ofERKS4_m" "16find_last_not_ofEcm" "17find_first_not_ofEPKcm"
        "17find_first_not_ofEPKcmm" "17find_first_not_ofERKS4_m" "17find_first_not_ofEcm"
        "4copyEPcmm" "4findEPKcm" "4findEPKcmm" "4findERKS4_m" "4findEcm" "5rfindEPKcm"
        "5rfindEPKcmm" "5rfindERKS4_m" "5rfindEcm" "7compareEPKc" "7compareERKS4_" "7compareEmmPKc"
        "7compareEmmPKcm" "7compareEmmRKS4_" "7compareEmmRKS4_mm"
}

/// A node of a tree or a list, as a whole.
fn node(at: *const c_void, words: usize, write: bool, site: Site) {
    as_a_whole("a tree or list of the C++ library", at, words * 8, write, site);
}

/// Words of a node of a tree.
const TREE: usize = 4;
/// Words of a node of a list.
const LIST: usize = 2;

tell! {
    fn _ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_(_left: bool, new: *mut c_void, above: *mut c_void, tree: *mut c_void; site) -> () {
        node(new, TREE, true, site);
        node(above, TREE, true, site);
        node(tree, TREE, true, site);
    }
    fn _ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_(old: *mut c_void, tree: *mut c_void; site) -> *mut c_void {
        node(old, TREE, true, site);
        node(tree, TREE, true, site);
    }
    fn _ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base(at: *mut c_void; site) -> *mut c_void { node(at, TREE, false, site); }
    fn _ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base(at: *mut c_void; site) -> *mut c_void { node(at, TREE, false, site); }
    fn _ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base(at: *mut c_void; site) -> *mut c_void { node(at, TREE, false, site); }
    fn _ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base(at: *mut c_void; site) -> *mut c_void { node(at, TREE, false, site); }
    fn _ZNSt8__detail15_List_node_base7_M_hookEPS0_(new: *mut c_void, before: *mut c_void; site) -> () {
        node(new, LIST, true, site);
        node(before, LIST, true, site);
        node(previous(before), LIST, true, site);
    }
    fn _ZNSt8__detail15_List_node_base9_M_unhookEv(old: *mut c_void; site) -> () {
        node(old, LIST, true, site);
        node(*(old as *mut *mut c_void), LIST, true, site);
        node(previous(old), LIST, true, site);
    }
    fn _ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_(to: *mut c_void, first: *mut c_void, last: *mut c_void; site) -> () {
        for at in [to, first, last] {
            node(at, LIST, true, site);
            node(previous(at), LIST, true, site);
        }
    }
    fn _ZNSt8__detail15_List_node_base4swapERS0_S1_(one: *mut c_void, other: *mut c_void; site) -> () {
        node(one, LIST, true, site);
        node(other, LIST, true, site);
    }
    fn _ZNKSt8__detail20_Prime_rehash_policy14_M_need_rehashEmmm(policy: *mut c_void, _a: usize, _b: usize, _c: usize; site) -> Rehash {
        node(policy, 2, true, site);
    }
    // Standard streams may be used by all threads; what is written to them is read here.
    fn _ZSt16__ostream_insertIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_PKS3_l(_stream: *mut c_void, text: *const c_void, length: usize; site) -> *mut c_void {
        reads(text, length, site);
    }
    fn _ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc(_stream: *mut c_void, text: *const core::ffi::c_char; site) -> *mut c_void {
        if !text.is_null() {
            reads_text(text, usize::MAX, site);
        }
    }
}

/// Whether the table needs more buckets, and how many.
#[repr(C)]
struct Rehash {
    needed: bool,
    count: usize,
}

/// The node before one of a list.
unsafe fn previous(node: *mut c_void) -> *mut c_void {
    // SAFETY: the caller's list.
    unsafe { *(node as *mut *mut c_void).add(1) }
}
