//! Files that programs write: no execution sees what another one wrote, and nothing reaches the disk.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

use std::path::Path;

use crate::common::{Ran, folder, turnpike_in};
use crate::program_system::compile;

/// The argument says what happens to files of the present folder, which has `kept.txt` with one letter.
const FILES: &str = r#"#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <netinet/in.h>
#include <unistd.h>
static const char *what;
static int fd;
static int is(const char *name) { return !strcmp(what, name); }
static long size_of(const char *path) { struct stat status; return stat(path, &status) ? -1 : (long)status.st_size; }
static void *other(void *letter) {
    if (is("order")) pwrite(fd, letter, 1, 0);
    return 0;
}
static void append(const char *path) {
    int file = open(path, O_CREAT | O_WRONLY | O_APPEND, 0644);
    assert(file >= 0 && write(file, "x", 1) == 1 && close(file) == 0);
}
static void files(void) {
    char text[8] = "";
    if (is("append")) { append("kept.txt"); assert(size_of("kept.txt") == 2); }
    if (is("create")) { append("new.txt"); append("./new.txt"); assert(size_of("new.txt") == 2); }
    if (is("stream")) {
        FILE *file = fopen("new.txt", "wx");
        assert(file && fputs("abc", file) >= 0 && fclose(file) == 0);
        assert(!fopen("new.txt", "wx") && errno == EEXIST);
        file = fopen("new.txt", "r");
        assert(file && fgets(text, sizeof text, file) && !strcmp(text, "abc"));
        fclose(file);
    }
    if (is("remove")) {
        assert(unlink("kept.txt") == 0 && access("kept.txt", F_OK) == -1 && errno == ENOENT);
        assert(open("kept.txt", O_RDONLY) == -1 && unlink("kept.txt") == -1);
        append("kept.txt");
        assert(size_of("kept.txt") == 1);
    }
    if (is("rename")) {
        assert(rename("kept.txt", "new.txt") == 0 && size_of("kept.txt") == -1 && size_of("new.txt") == 1);
        int file = open("new.txt", O_RDONLY);
        assert(read(file, text, 8) == 1 && text[0] == 'k');
    }
    if (is("truncate")) { assert(truncate("kept.txt", 0) == 0 && size_of("kept.txt") == 0); }
    if (is("folder")) mkdir("made", 0755);
    if (is("address")) {
        struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = 0x0100007f};
        assert(bind(socket(AF_INET, SOCK_DGRAM, 0), (void *)&address, sizeof address) == 0);
    }
}
int main(int argc, char **argv) {
    pthread_t one, two;
    char last = 0;
    (void)argc;
    what = argv[1];
    fd = open("shared.txt", O_CREAT | O_RDWR, 0644);
    files();
    pthread_create(&one, 0, other, "A");
    pthread_create(&two, 0, other, "B");
    pthread_join(one, 0);
    pthread_join(two, 0);
    if (is("order")) { pread(fd, &last, 1, 0); assert(last == 'B'); }
    return 0;
}
"#;

fn search(folder: &Path, what: &str) -> Ran {
    let search = ["search", "--program", "./files", "--no-shorten", "--", what];
    turnpike_in(folder, &search, "")
}

#[test]
fn files_are_written_afresh_in_every_execution() {
    let folder = folder(&[("files.c", FILES), ("kept.txt", "k")]);
    let folder = folder.path();
    if !compile(folder, "gcc", &["-g", "-O1", "-w", "-fsanitize=thread", "files.c", "-o", "files"]) {
        return;
    }
    for what in ["append", "create", "stream", "remove", "rename", "truncate"] {
        for _ in 0..2 {
            search(folder, what).expect(0, &["none", "(complete)"]);
        }
    }
    assert_eq!(std::fs::read_to_string(folder.join("kept.txt")).expect("it is still there"), "k");
    assert!(!folder.join("new.txt").exists() && !folder.join("shared.txt").exists());
    // The order of threads that write at a position decides what is there.
    search(folder, "order").expect(1, &["found: assertion failed"]);
}

#[test]
fn what_later_executions_find_proves_nothing() {
    let folder = folder(&[("files.c", FILES)]);
    let folder = folder.path();
    if !compile(folder, "gcc", &["-g", "-O1", "-w", "-fsanitize=thread", "files.c", "-o", "files"]) {
        return;
    }
    search(folder, "folder").expect(3, &["a change of folders or links, which later executions find,"]);
    search(folder, "address").expect(3, &["bind"]);
}
