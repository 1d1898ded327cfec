/*
 * auth.c: the Needham-Schroeder public-key protocol, with somebody on the wire.
 *
 * Alice wants to talk to somebody, Bob answers whoever calls, a key server hands out public keys, and Carol, who is a
 * participant like the others, owns the network between Alice and Bob: she gets every message that they send, and they get
 * only what she lets through, replays or makes up. Needham and Schroeder (1978) meant the protocol to convince both sides
 * of whom they talk to; Lowe (1995) found that it does not.
 *
 *     Alice -> server   Alice asks for the key of her partner     server -> Alice   the key, signed
 *   1 Alice -> Bob      {Na, Alice} for Bob
 *     Bob -> server     Bob asks for the key of Alice             server -> Bob     the key, signed
 *   2 Bob -> Alice      {Na, Nb} for Alice                        (the fix: {Na, Nb, Bob})
 *   3 Alice -> Bob      {Nb} for Bob
 *
 * Visible steps are messages (two steps each way: a mailbox is a queue with a semaphore that counts its contents), the
 * tosses that Alice and Carol make up their minds by, and assertions. Encryption is textbook RSA with tiny numbers: Carol
 * could break it with a pencil, but she plays by the rules and only opens what is sealed for her.
 *
 * Usage: auth [fixed] [primed] [reduced] [actions=N] [sends=N]
 *   fixed     message 2 names its sender (Lowe's fix)
 *   primed    the first two messages of the attack have been delivered: Alice has called Carol, Carol has called Bob as Alice
 *   reduced   Carol's tosses leave out what cannot help her, so that all executions can be searched
 *   actions   how often Carol acts before she lets everybody go home (32)
 *   sends     how many of her actions may put a message on the wire (5)
 *
 * Threads: 5 (main, Alice, Bob, the server, Carol).
 * Expected: the assertion of bob_is_convinced fails, by Lowe's attack, whose shortest form takes 69 visible steps (35 with `primed`).
 *           With `fixed`, as in auth_ok.c, nothing may be found. There is no deadlock, and no data race.
 * Needs: nothing but a plain compilation.
 * search: --strategy bfs -- reduced primed => assertion steps=35
 * search: --strategy bfs -- reduced => assertion steps=69
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "turnpike.h"

/* ---------------------------------------------------------------------------------------------------- participants */

enum agent { ALICE, BOB, CAROL, SERVER, AGENTS, NOBODY = 15 };

static const char *const agent_names[AGENTS] = { "Alice", "Bob", "Carol", "the server" };

static const char *name_of(unsigned agent)
{
    return agent < AGENTS ? agent_names[agent] : "nobody";
}

/* What the command line says. */
static struct {
    bool fixed;
    bool primed;
    bool reduced;
    unsigned actions;
    unsigned sends;
} options;

/* One of `count` things. In the reduced instance there is only the one that helps Carol; the step is there all the same. */
static unsigned pick(unsigned count, unsigned helpful)
{
    return options.reduced ? helpful + (unsigned)tp_toss(0) : (unsigned)tp_toss((int)count - 1);
}

/* ---------------------------------------------------------------------------------------------------- cryptography */

/* Textbook RSA, one number at a time. */
struct public_key {
    uint32_t modulus;
    uint32_t exponent;
};

struct private_key {
    uint32_t modulus;
    uint32_t exponent;
};

struct key_pair {
    struct public_key open;
    struct private_key secret;
};

/* 61*53, 67*71, 59*73, 79*83: exponents e and d with e*d = 1 modulo lcm(p-1, q-1). */
static const struct key_pair key_pairs[AGENTS] = {
    [ALICE] = { { 3233, 17 }, { 3233, 413 } },
    [BOB] = { { 4757, 13 }, { 4757, 1777 } },
    [CAROL] = { { 4307, 11 }, { 4307, 1139 } },
    [SERVER] = { { 6557, 19 }, { 6557, 505 } },
};

static uint32_t power(uint32_t base, uint32_t exponent, uint32_t modulus)
{
    uint64_t result = 1;
    uint64_t square = base % modulus;
    for (; exponent > 0; exponent >>= 1) {
        if (exponent & 1)
            result = result * square % modulus;
        square = square * square % modulus;
    }
    return (uint32_t)result;
}

/* What is said in secret. Numbers stay below every modulus. */
struct message {
    uint32_t kind;   /* 1, 2 or 3 */
    uint32_t first;  /* a nonce */
    uint32_t second; /* another one, in message 2 */
    uint32_t name;   /* of the sender, in message 1 and in a fixed message 2 */
};

/* A message under a public key. The last word shows whether it was opened with the right key. */
enum { WORDS = 5, MARK = 1978 };

struct sealed {
    uint32_t words[WORDS];
};

static struct sealed seal(const struct message *message, struct public_key key)
{
    const uint32_t plain[WORDS] = { message->kind, message->first, message->second, message->name, MARK };
    struct sealed box;
    for (int i = 0; i < WORDS; i++)
        box.words[i] = power(plain[i], key.exponent, key.modulus);
    return box;
}

static bool open_sealed(const struct sealed *box, struct private_key key, struct message *message)
{
    uint32_t plain[WORDS];
    for (int i = 0; i < WORDS; i++)
        plain[i] = power(box->words[i], key.exponent, key.modulus);
    if (plain[WORDS - 1] != MARK)
        return false;
    *message = (struct message){ .kind = plain[0], .first = plain[1], .second = plain[2], .name = plain[3] };
    return true;
}

/* What the server signs: whose key this is. */
struct certificate {
    uint32_t owner;
    struct public_key key;
    uint32_t signature;
};

static uint32_t digest(const struct certificate *certificate)
{
    uint32_t hash = 7;
    hash = hash * 31 + certificate->owner;
    hash = hash * 31 + certificate->key.modulus;
    hash = hash * 31 + certificate->key.exponent;
    return hash % key_pairs[SERVER].open.modulus;
}

static void sign(struct certificate *certificate)
{
    const struct private_key key = key_pairs[SERVER].secret;
    certificate->signature = power(digest(certificate), key.exponent, key.modulus);
}

static bool is_signed(const struct certificate *certificate)
{
    const struct public_key key = key_pairs[SERVER].open;
    return power(certificate->signature, key.exponent, key.modulus) == digest(certificate);
}

/* Fresh numbers, never used twice: each participant has a hundred of them. */
static uint32_t fresh_nonce(enum agent agent, uint32_t *used)
{
    return 100 * ((uint32_t)agent + 1) + (*used)++;
}

/* --------------------------------------------------------------------------------------------------------- mailboxes */

enum packet_kind { KEY_REQUEST, KEY_REPLY, SECRET, CLOSE };

struct packet {
    enum packet_kind kind;
    enum agent from;
    enum agent to;
    union {
        enum agent wanted;              /* KEY_REQUEST */
        struct certificate certificate; /* KEY_REPLY */
        struct sealed box;              /* SECRET */
    } body;
};

/* A queue, and how many packets are in it, so that one can look without waiting. */
struct mailbox {
    tp_queue *queue;
    sem_t filled;
};

/* More than can ever be in one: nobody waits to send. */
enum { CAPACITY = 64 };

static struct mailbox network[AGENTS]; /* what comes over the wire */
static struct mailbox desk[AGENTS];    /* what comes from the key server, or to it: a line that Carol does not control */

static void make_mailbox(struct mailbox *box)
{
    box->queue = tp_queue_create(CAPACITY);
    if (box->queue == NULL || sem_init(&box->filled, 0, 0) != 0) {
        fputs("auth: no mailbox\n", stderr);
        exit(2);
    }
}

static void post(struct mailbox *box, const struct packet *packet)
{
    tp_msg_send(box->queue, packet, sizeof *packet);
    sem_post(&box->filled);
}

static struct packet take(struct mailbox *box)
{
    struct packet packet;
    while (sem_wait(&box->filled) != 0)
        continue;
    tp_msg_recv(box->queue, &packet, sizeof packet);
    return packet;
}

static bool try_take(struct mailbox *box, struct packet *packet)
{
    if (sem_trywait(&box->filled) != 0)
        return false;
    tp_msg_recv(box->queue, packet, sizeof *packet);
    return true;
}

/* Honest participants hand their messages to the network, and the network is Carol. */
static void send_secret(enum agent from, enum agent to, const struct message *message, struct public_key key)
{
    struct packet packet = { .kind = SECRET, .from = from, .to = to };
    packet.body.box = seal(message, key);
    post(&network[CAROL], &packet);
}

/* -------------------------------------------------------------------------------------------------------- key server */

static void *server(void *unused)
{
    (void)unused;
    for (;;) {
        struct packet request = take(&desk[SERVER]);
        if (request.kind == CLOSE)
            return NULL;
        if (request.kind != KEY_REQUEST || request.body.wanted >= SERVER)
            continue;
        struct packet reply = { .kind = KEY_REPLY, .from = SERVER, .to = request.from };
        reply.body.certificate.owner = request.body.wanted;
        reply.body.certificate.key = key_pairs[request.body.wanted].open;
        sign(&reply.body.certificate);
        post(&desk[request.from], &reply);
    }
}

static struct public_key look_up(enum agent who, enum agent wanted)
{
    struct packet request = { .kind = KEY_REQUEST, .from = who, .to = SERVER };
    request.body.wanted = wanted;
    post(&desk[SERVER], &request);
    const struct packet reply = take(&desk[who]);
    if (reply.kind != KEY_REPLY || !is_signed(&reply.body.certificate) || reply.body.certificate.owner != wanted) {
        fputs("auth: the key server gave a wrong answer\n", stderr);
        abort();
    }
    return reply.body.certificate.key;
}

/* ------------------------------------------------------------------------------------------------------------- Alice */

/* What Alice and Bob believe. Nobody but the owner and the assertions look at it. */
struct session {
    bool begun;
    bool done;
    enum agent partner;
    uint32_t mine;   /* nonce */
    uint32_t theirs; /* nonce */
    struct public_key key;
};

static struct session alice_session;
static struct session bob_session;

static void alice_calls(struct session *session)
{
    const struct message first = { .kind = 1, .first = session->mine, .name = ALICE };
    send_secret(ALICE, session->partner, &first, session->key);
}

/* Whether this is message 2 of her session. */
static bool alice_accepts(const struct session *session, const struct message *message)
{
    if (message->kind != 2 || message->first != session->mine)
        return false;
    return !options.fixed || message->name == (uint32_t)session->partner;
}

static void *alice(void *unused)
{
    (void)unused;
    struct session *session = &alice_session;
    uint32_t used = 0;
    if (!session->begun) {
        session->partner = pick(2, 1) == 1 ? CAROL : BOB;
        session->mine = fresh_nonce(ALICE, &used);
        session->begun = true;
        session->key = look_up(ALICE, session->partner);
        alice_calls(session);
    }
    for (;;) {
        const struct packet packet = take(&network[ALICE]);
        struct message message;
        if (packet.kind == CLOSE)
            return NULL;
        if (packet.kind != SECRET || packet.from != session->partner)
            continue;
        if (!open_sealed(&packet.body.box, key_pairs[ALICE].secret, &message))
            continue;
        if (!alice_accepts(session, &message))
            continue;
        session->theirs = message.second;
        session->done = true;
        const struct message third = { .kind = 3, .first = session->theirs };
        send_secret(ALICE, session->partner, &third, session->key);
        return NULL;
    }
}

/* --------------------------------------------------------------------------------------------------------------- Bob */

static void bob_answers(struct session *session)
{
    const struct message second = {
        .kind = 2,
        .first = session->theirs,
        .second = session->mine,
        .name = options.fixed ? BOB : NOBODY,
    };
    session->key = look_up(BOB, session->partner);
    send_secret(BOB, session->partner, &second, session->key);
}

/* Lowe's question: when Bob is convinced that Alice called him, did she? */
static void bob_is_convinced(const struct session *session)
{
    const bool deceived = session->partner == ALICE && !(alice_session.begun && alice_session.partner == BOB);
    if (deceived)
        fprintf(stderr, "auth: Bob believes that Alice called him; she called %s\n", name_of(alice_session.partner));
    tp_assert(!deceived);
}

static void *bob(void *unused)
{
    (void)unused;
    struct session *session = &bob_session;
    uint32_t used = 0;
    if (session->begun) {
        session->mine = fresh_nonce(BOB, &used);
        bob_answers(session);
    }
    for (;;) {
        const struct packet packet = take(&network[BOB]);
        struct message message;
        if (packet.kind == CLOSE)
            return NULL;
        if (packet.kind != SECRET || !open_sealed(&packet.body.box, key_pairs[BOB].secret, &message))
            continue;
        if (message.kind == 1 && !session->begun && message.name == (uint32_t)packet.from) {
            session->begun = true;
            session->partner = (enum agent)message.name;
            session->theirs = message.first;
            session->mine = fresh_nonce(BOB, &used);
            bob_answers(session);
        } else if (message.kind == 3 && session->begun && packet.from == session->partner && message.first == session->mine) {
            session->done = true;
            bob_is_convinced(session);
            return NULL;
        }
    }
}

/* ------------------------------------------------------------------------------------------------------------- Carol */

enum { MOST_BOXES = 8, MOST_NONCES = 8 };

/* Everything that she has learnt. */
struct knowledge {
    struct sealed boxes[MOST_BOXES]; /* that she could not open */
    unsigned box_count;
    uint32_t nonces[MOST_NONCES];
    unsigned nonce_count;
    unsigned boxes_used;  /* how many there were when she last replayed one, */
    unsigned nonces_used; /* and when she last made up a message */
    bool has_key[AGENTS];
    struct public_key keys[AGENTS];
};

static struct knowledge carol_knows;

static void learn_nonce(struct knowledge *knowledge, uint32_t nonce)
{
    for (unsigned i = 0; i < knowledge->nonce_count; i++)
        if (knowledge->nonces[i] == nonce)
            return;
    if (nonce != 0 && knowledge->nonce_count < MOST_NONCES)
        knowledge->nonces[knowledge->nonce_count++] = nonce;
}

static void learn_packet(struct knowledge *knowledge, const struct packet *packet)
{
    struct message message;
    if (packet->kind != SECRET)
        return;
    if (open_sealed(&packet->body.box, key_pairs[CAROL].secret, &message)) {
        learn_nonce(knowledge, message.first);
        learn_nonce(knowledge, message.second);
    } else if (knowledge->box_count < MOST_BOXES) {
        knowledge->boxes[knowledge->box_count++] = packet->body.box;
    }
}

static void learn_key(struct knowledge *knowledge, enum agent owner)
{
    if (knowledge->has_key[owner])
        return;
    knowledge->keys[owner] = look_up(CAROL, owner);
    knowledge->has_key[owner] = true;
}

static enum agent pick_victim(enum agent helpful)
{
    return pick(2, helpful == ALICE ? 0 : 1) == 0 ? ALICE : BOB;
}

static enum agent pick_name(enum agent helpful)
{
    return (enum agent)pick(SERVER, helpful);
}

static uint32_t pick_nonce(const struct knowledge *knowledge)
{
    return knowledge->nonces[pick(knowledge->nonce_count, knowledge->nonce_count - 1)];
}

/* The sender's address on a packet is whatever its sender writes there. */
static void deliver(enum agent victim, const struct sealed *box)
{
    struct packet packet = { .kind = SECRET, .from = pick_name(victim == ALICE ? CAROL : ALICE), .to = victim };
    packet.body.box = *box;
    post(&network[victim], &packet);
}

/* Passes on, unopened, what was meant for somebody else. */
static bool replay(struct knowledge *knowledge)
{
    if (knowledge->box_count == 0)
        return false;
    const unsigned which = pick(knowledge->box_count, knowledge->box_count - 1);
    knowledge->boxes_used = knowledge->box_count;
    deliver(pick_victim(ALICE), &knowledge->boxes[which]);
    return true;
}

/* Makes up a message of what she knows. */
static bool invent(struct knowledge *knowledge)
{
    const unsigned known = knowledge->nonce_count;
    const enum agent victim = pick_victim(BOB);
    if (!knowledge->has_key[victim])
        return false;
    struct message message = { .kind = 1 + pick(3, known > 2 ? 2 : 0), .name = NOBODY };
    message.first = pick_nonce(knowledge);
    knowledge->nonces_used = known;
    if (message.kind == 2)
        message.second = pick_nonce(knowledge);
    if (message.kind == 1 || (message.kind == 2 && options.fixed))
        message.name = pick_name(ALICE);
    const struct sealed box = seal(&message, knowledge->keys[victim]);
    deliver(victim, &box);
    return true;
}

enum action { LISTEN, LOOK_UP, REPLAY, INVENT, ACTIONS };

/*
 * What she does next. An attack takes seven actions, none of them in vain: she must listen three times, look up one key, and
 * send three messages, each made of something new. The reduced instance leaves out everything else.
 */
static enum action pick_action(const struct knowledge *knowledge)
{
    enum action possible[ACTIONS] = { LISTEN };
    unsigned count = 1;
    if (!options.reduced || !knowledge->has_key[BOB])
        possible[count++] = LOOK_UP;
    if (!options.reduced || knowledge->boxes_used < knowledge->box_count)
        possible[count++] = REPLAY;
    if (!options.reduced || (knowledge->has_key[BOB] && knowledge->nonces_used < knowledge->nonce_count))
        possible[count++] = INVENT;
    return possible[tp_toss((int)count - 1)];
}

/* Whether it was of any use. */
static bool act(struct knowledge *knowledge, enum action action, unsigned *sends)
{
    struct packet packet;
    bool sent = false;
    switch (action) {
    case LISTEN:
        if (!try_take(&network[CAROL], &packet))
            return false;
        learn_packet(knowledge, &packet);
        return true;
    case LOOK_UP:
        learn_key(knowledge, pick_victim(BOB));
        return true;
    case REPLAY:
        sent = replay(knowledge);
        break;
    case INVENT:
        sent = invent(knowledge);
        break;
    case ACTIONS:
        break;
    }
    *sends += sent;
    return sent;
}

static void *carol(void *unused)
{
    (void)unused;
    unsigned sends = 0;
    for (unsigned done = 0; done < options.actions && sends < options.sends; done++) {
        const bool useful = act(&carol_knows, pick_action(&carol_knows), &sends);
        if (options.reduced && !useful)
            break;
    }
    const struct packet close = { .kind = CLOSE, .from = CAROL };
    post(&network[ALICE], &close);
    post(&network[BOB], &close);
    return NULL;
}

/* -------------------------------------------------------------------------------------------------------------- main */

/* The first two messages of the attack have been delivered, by hand. */
static void prime(void)
{
    uint32_t used = 0;
    alice_session = (struct session){
        .begun = true, .partner = CAROL, .mine = fresh_nonce(ALICE, &used), .key = key_pairs[CAROL].open };
    bob_session = (struct session){ .begun = true, .partner = ALICE, .theirs = alice_session.mine };
    carol_knows.has_key[BOB] = true;
    carol_knows.keys[BOB] = key_pairs[BOB].open;
    learn_nonce(&carol_knows, alice_session.mine);
    carol_knows.nonces_used = carol_knows.nonce_count;
}

static void read_options(int count, char **words)
{
    memset(&options, 0, sizeof options);
#ifdef FIXED
    options.fixed = true;
#endif
    options.actions = 32;
    options.sends = 5;
    for (int i = 1; i < count; i++) {
        if (strcmp(words[i], "fixed") == 0)
            options.fixed = true;
        else if (strcmp(words[i], "primed") == 0)
            options.primed = true;
        else if (strcmp(words[i], "reduced") == 0) {
            options.reduced = true;
            options.actions = 7;
            options.sends = 3;
        }
        else if (strncmp(words[i], "actions=", 8) == 0)
            options.actions = (unsigned)atoi(words[i] + 8);
        else if (strncmp(words[i], "sends=", 6) == 0 && atoi(words[i] + 6) <= CAPACITY / 2)
            options.sends = (unsigned)atoi(words[i] + 6);
        else {
            fprintf(stderr, "auth: what is \"%s\"? Usage: auth [fixed] [primed] [reduced] [actions=N] [sends=N]\n", words[i]);
            exit(2);
        }
    }
}

int main(int count, char **words)
{
    static void *(*const roles[AGENTS])(void *) = { alice, bob, carol, server };
    pthread_t threads[AGENTS];
    read_options(count, words);
    memset(&alice_session, 0, sizeof alice_session);
    memset(&bob_session, 0, sizeof bob_session);
    memset(&carol_knows, 0, sizeof carol_knows);
    uint32_t used = 0;
    learn_nonce(&carol_knows, fresh_nonce(CAROL, &used));
    carol_knows.nonces_used = carol_knows.nonce_count;
    if (options.primed)
        prime();
    for (int agent = 0; agent < AGENTS; agent++) {
        make_mailbox(&network[agent]);
        make_mailbox(&desk[agent]);
    }
    for (int agent = 0; agent < AGENTS; agent++)
        if (pthread_create(&threads[agent], NULL, roles[agent], NULL) != 0)
            return 2;
    for (int agent = ALICE; agent <= CAROL; agent++)
        pthread_join(threads[agent], NULL);
    const struct packet close = { .kind = CLOSE, .from = NOBODY };
    post(&desk[SERVER], &close);
    pthread_join(threads[SERVER], NULL);
    return 0;
}
