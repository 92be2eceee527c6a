export const id = 538;
export const ids = [538];
export const modules = {

/***/ 2661:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   V: () => (/* binding */ nameOf),
/* harmony export */   q: () => (/* binding */ parseChange)
/* harmony export */ });
/* harmony import */ var _client_json_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(5395);
/* harmony import */ var _interface_parsed_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(9296);


const instead = 'Name the files with `path` instead.';
/** What stands for the commit of a branch that is not there yet, or not any more. */
const isNone = (commit) => /^0+$/.test(commit);
function commitIn(json) {
    // A brand cannot be computed: this is the one place that gives it, to what has just been examined.
    return typeof json === 'string' && /^(?:[\da-f]{40}|[\da-f]{64})$/.test(json) ? json : undefined;
}
/** `main` of `refs/heads/main`. */
const shortRef = (ref) => ref.replace(/^refs\/(?:heads|tags)\//, '');
function parsePush(payload) {
    const ref = (0,_client_json_js__WEBPACK_IMPORTED_MODULE_0__/* .nameIn */ .ZC)(payload['ref']);
    const before = commitIn(payload['before']);
    const after = commitIn(payload['after']);
    if (ref === undefined || before === undefined || after === undefined) {
        return (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_1__/* .refused */ .J)(`The event of the push does not say from which commit to which it goes. ${instead}`);
    }
    if (isNone(after))
        return (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_1__/* .accepted */ .q)({ kind: 'deleted-ref', ref });
    if (!isNone(before))
        return (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_1__/* .accepted */ .q)({ kind: 'push', ref, before, after });
    const defaultBranch = (0,_client_json_js__WEBPACK_IMPORTED_MODULE_0__/* .nameIn */ .ZC)((0,_client_json_js__WEBPACK_IMPORTED_MODULE_0__/* .asObject */ .eB)(payload['repository'])['default_branch']);
    if (defaultBranch === undefined) {
        return (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_1__/* .refused */ .J)(`The push makes ${JSON.stringify(shortRef(ref))}, and its event does not say with which branch to compare that. ${instead}`);
    }
    if (ref === `refs/heads/${defaultBranch}`) {
        return (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_1__/* .refused */ .J)(`The push makes the default branch ${JSON.stringify(defaultBranch)}: there is nothing to compare it with. ${instead}`);
    }
    return (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_1__/* .accepted */ .q)({ kind: 'new-ref', ref, after, defaultBranch });
}
function parseMergeGroup(payload) {
    const group = (0,_client_json_js__WEBPACK_IMPORTED_MODULE_0__/* .asObject */ .eB)(payload['merge_group']);
    const base = commitIn(group['base_sha']);
    const head = commitIn(group['head_sha']);
    return base === undefined || head === undefined || isNone(base) || isNone(head)
        ? (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_1__/* .refused */ .J)(`The event of the merge group does not say from which commit to which it goes. ${instead}`)
        : (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_1__/* .accepted */ .q)({ kind: 'merge-group', base, head });
}
/** Reads what GitHub says of an event: docs.github.com, "Webhook events and payloads". */
function parseChange(event, payload) {
    if (!(0,_client_json_js__WEBPACK_IMPORTED_MODULE_0__/* .isObject */ .Gv)(payload))
        return (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_1__/* .refused */ .J)(`The file of the event has no JSON object in it. ${instead}`);
    // Many events are of a pull request, and all of them have it at this place.
    const number = (0,_client_json_js__WEBPACK_IMPORTED_MODULE_0__/* .asObject */ .eB)(payload['pull_request'])['number'];
    if (typeof number === 'number' && Number.isSafeInteger(number) && number > 0) {
        return (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_1__/* .accepted */ .q)({ kind: 'pull-request', number });
    }
    if (event === 'push')
        return parsePush(payload);
    if (event === 'merge_group')
        return parseMergeGroup(payload);
    const what = event === '' ? 'The run has no event' : `The event of the run is ${JSON.stringify(event)}`;
    return (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_1__/* .refused */ .J)(`${what}, of which no changed files are known: they are known of events with a pull request (pull_request, pull_request_target, pull_request_review and others), of push and of merge_group. ${instead}`);
}
const short = (commit) => commit.slice(0, 7);
/** What the log calls it. */
function nameOf(change) {
    switch (change.kind) {
        case 'pull-request':
            return `pull request #${change.number}`;
        case 'push':
            return `the push to ${shortRef(change.ref)} (${short(change.before)} to ${short(change.after)})`;
        case 'new-ref':
            return `the push that makes ${shortRef(change.ref)} (${short(change.after)}, compared with ${change.defaultBranch})`;
        case 'deleted-ref':
            return `the push that deletes ${shortRef(change.ref)}`;
        case 'merge-group':
            return `the merge group (${short(change.base)} to ${short(change.head)})`;
    }
}


/***/ }),

/***/ 4906:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   N: () => (/* binding */ connect),
/* harmony export */   a: () => (/* binding */ tellRetries)
/* harmony export */ });
/* harmony import */ var _client_client_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(2683);
/* harmony import */ var _interface_duration_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(4393);
/* harmony import */ var _report_words_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(1046);
/* harmony import */ var _version_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(4596);




/** A service in trouble would fill the log of a step with many requests. */
const mostRetriesTold = 10;
/** All requests wait for a rate limit together: the first of them is told, whatever number of others it meets. */
const limitedText = 'Requests are limited: what is left to do goes on as fast as they are taken.';
/** Tells what is tried again, and not more often than a person wants to read it. */
function tellRetries(log) {
    let told = 0;
    let limited = false;
    return ({ why, delayMs, reason }) => {
        const text = `${why} Trying again in ${(0,_report_words_js__WEBPACK_IMPORTED_MODULE_2__/* .duration */ .p0)(delayMs)}.`;
        if (reason === 'limited') {
            if (limited) {
                log.debug(text);
                return;
            }
            limited = true;
            log.line(text);
            log.line(limitedText);
            return;
        }
        if (told < mostRetriesTold)
            log.line(text);
        else
            log.debug(text);
        told += 1;
        if (told === mostRetriesTold)
            log.line('What is tried again from here on is in the debug log only.');
    };
}
/** The next requests are spread before any is refused. Short pauses are no news. */
const longPauseMs = 1_000;
function tellPace(log) {
    let told = false;
    return (delayMs) => {
        if (told || delayMs < longPauseMs)
            return;
        told = true;
        log.line(limitedText);
    };
}
/** The client as a step uses it: it says what it retries, and where its requests come from. */
const connect = ({ baseUrl, token, requestTimeout, retries }, origin, log) => (0,_client_client_js__WEBPACK_IMPORTED_MODULE_0__/* .createClient */ .UU)({
    baseUrl,
    token,
    retries,
    requestTimeoutMs: (0,_interface_duration_js__WEBPACK_IMPORTED_MODULE_1__/* .milliseconds */ .Rz)(requestTimeout),
    userAgent: `workspace-automation/${_version_js__WEBPACK_IMPORTED_MODULE_3__/* .version */ .r}`,
    ...(origin !== undefined && { origin }),
    onWarning: log.warn,
    onRetry: tellRetries(log),
    onThrottled: tellPace(log),
});


/***/ }),

/***/ 2982:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   H: () => (/* binding */ inParallel)
/* harmony export */ });
/* unused harmony export parallelRequests */
/** As many requests as the client has connections: more would only wait. */
const parallelRequests = 16;
/** Works through the items in their order, several at a time; `goOn` is asked before each, and false ends it early. */
async function inParallel(items, work, goOn = () => true) {
    let next = 0;
    const worker = async () => {
        for (;;) {
            const item = items[next];
            if (item === undefined || !goOn())
                return;
            next += 1;
            await work(item);
        }
    };
    await Promise.all(Array.from({ length: Math.min(parallelRequests, items.length) }, worker));
}


/***/ }),

/***/ 7538:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  run: () => (/* binding */ run)
});

// EXTERNAL MODULE: ./build/bundle/compiled/client/client.js + 9 modules
var client_client = __webpack_require__(2683);
// EXTERNAL MODULE: ./build/bundle/compiled/interface/duration.js
var duration = __webpack_require__(4393);
// EXTERNAL MODULE: ./build/bundle/compiled/action/connect.js
var connect = __webpack_require__(4906);
// EXTERNAL MODULE: ./build/bundle/compiled/action/ledger/ledger.js
var ledger_ledger = __webpack_require__(2463);
// EXTERNAL MODULE: ./build/bundle/compiled/action/report/words.js
var words = __webpack_require__(1046);
;// CONCATENATED MODULE: ./build/bundle/compiled/action/locks/past-moment.js

/** Answers carry the time of the service in whole seconds, so that by it a moment ago can lie ahead. */
const answerClockMs = 1_000;
/** "14:05 UTC (3 min ago)", of something that has happened. */
const pastMoment = (time, now) => (0,words/* moment */.n$)(time, Math.max(now, time + 1));

;// CONCATENATED MODULE: ./build/bundle/compiled/action/locks/holder-text.js


/** "Content/Hero.uasset is held by ada until 14:05 UTC (in 12 min), taken by https://…/runs/1, since 13:05 UTC (48 min ago)". */
function heldText(path, holder, now, withStart = false) {
    const parts = [`${path} is held`];
    if (holder?.owner !== undefined)
        parts.push(` by ${holder.owner}`);
    if (holder?.expires_at !== undefined)
        parts.push(` until ${(0,words/* moment */.n$)(Date.parse(holder.expires_at), now)}`);
    if (holder?.origin !== undefined)
        parts.push(`, taken by ${holder.origin}`);
    if (withStart && holder?.acquired_at !== undefined)
        parts.push(`, since ${pastMoment(Date.parse(holder.acquired_at), now)}`);
    return parts.join('');
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/locks/listed-locks.js
/** Up to so many paths are asked for one by one; for more, one list is shorter. */
const maxSingleRequests = 8;
/** The folder that all of them are in, with its slash; empty where they have none in common. */
function commonFolder(paths) {
    const [first = '', ...others] = paths;
    let length = first.lastIndexOf('/') + 1;
    for (const path of others) {
        while (!path.startsWith(first.slice(0, length)))
            length = first.lastIndexOf('/', length - 2) + 1;
    }
    return first.slice(0, length);
}
/** The locks on these paths, in one list of the folder that they are in. */
async function listTogether(client, workspace, paths, within) {
    const wanted = new Set(paths);
    const prefix = commonFolder(paths);
    const filter = prefix === '' ? {} : { prefix };
    const { items, incomplete } = await client.listLocks({ workspace, filter }, within);
    return { items: items.filter(({ path }) => wanted.has(path)), incomplete };
}
/** The locks on these paths, with as few requests as that takes. */
async function listOnPaths(client, workspace, paths, within) {
    if (paths.length > maxSingleRequests)
        return listTogether(client, workspace, paths, within);
    const lists = await Promise.all(paths.map((path) => client.listLocks({ workspace, filter: { path } }, within)));
    return {
        items: lists.flatMap(({ items }) => items),
        incomplete: lists.find(({ incomplete }) => incomplete !== undefined)?.incomplete,
    };
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/operations/lock-extent.js

const capitalised = (text) => text.charAt(0).toUpperCase() + text.slice(1);
async function lookUpChange(source, parts, within) {
    // With it comes a large part of the bundle, and only a step with `changed-files` needs it.
    const { lookUpChangedFiles } = await Promise.all(/* import() */[__webpack_require__.e(413), __webpack_require__.e(772)]).then(__webpack_require__.bind(__webpack_require__, 3817));
    const { of, files, paths } = await lookUpChangedFiles(source, parts, within);
    const { owner, repo } = source.repository;
    const different = paths.length === files ? '' : `, which makes ${(0,words/* count */.U9)(paths.length, 'path')} to look up`;
    parts.log.line(`${capitalised(of)} of ${owner}/${repo} changes ${(0,words/* count */.U9)(files, 'file')}${different}.`);
    return { paths, among: `, among ${(0,words/* count */.U9)(files, 'file')} of ${of}` };
}
/** The paths to look up, with all requests that it takes to know them. */
async function lookUp(extent, parts, within) {
    switch (extent.kind) {
        case 'workspace':
            return { paths: undefined, among: '' };
        case 'paths':
            return { paths: extent.paths, among: `, among ${(0,words/* count */.U9)(extent.paths.length, 'path')}` };
        case 'changed-files':
            return lookUpChange(extent.source, parts, within);
    }
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/operations/parts.js
const ordinaryMs = 120_000;
/** Without an explicit wait, an operation ends within two minutes and one attempt. */
const ordinaryLimits = ({ clock, requestTimeoutMs, signal, }) => ({
    deadline: clock() + ordinaryMs + requestTimeoutMs,
    signal,
});

;// CONCATENATED MODULE: ./build/bundle/compiled/action/operations/told-json.js
function withoutSecrets(told, conceal) {
    if (typeof told === 'string')
        return conceal(told);
    if (Array.isArray(told))
        return told.map((each) => withoutSecrets(each, conceal));
    if (typeof told !== 'object' || told === null)
        return told;
    return Object.fromEntries(Object.entries(told).map(([name, value]) => [conceal(name), withoutSecrets(value, conceal)]));
}
/**
 * What the service said, as JSON and without secrets. They are taken out before: where a text has JSON in it, JSON once
 * more spells them in a way of its own.
 */
const toldJson = (told, conceal) => JSON.stringify(withoutSecrets(told, conceal));

;// CONCATENATED MODULE: ./build/bundle/compiled/action/operations/list-locks.js






/** The fields that the action promises, and whatever else the service said. */
const asOutput = ({ raw, path, type, id, etag, owner, acquired_at, fence, expires_at, }) => ({
    ...raw,
    path,
    ...Object.fromEntries(Object.entries({ type, id, etag, owner, acquired_at, fence, expires_at }).filter(([, value]) => value !== undefined)),
});
function table(locks, now) {
    return {
        head: ['Path', 'Holder', 'Until', '', 'Taken by'],
        rows: locks.map(({ path, owner, expires_at, origin }) => {
            const end = expires_at === undefined ? undefined : Date.parse(expires_at);
            return [
                path,
                owner ?? '',
                end === undefined ? '' : (0,words/* clockTime */.qo)(end, now),
                end === undefined ? '' : (0,words/* distance */.Io)(end, now),
                origin ?? '',
            ];
        }),
    };
}
const note = (lock, now) => ({
    file: lock.path,
    title: 'Locked',
    text: `${heldText(lock.path, lock, now)}.`,
});
function sentenceOf({ locks, ignored, incomplete }, where) {
    if (locks.length > 0)
        return `${(0,words/* count */.U9)(locks.length, 'lock')} in ${where}.`;
    const apart = ignored > 0 ? `, apart from ${(0,words/* count */.U9)(ignored, 'lock')} of ignored owners` : '';
    return incomplete === undefined
        ? `Nothing is locked in ${where}${apart}.`
        : `No lock was seen in ${where}${apart}, and not all of them could be read.`;
}
/** A list that may not be whole says of no file that it is free. */
function failuresOf({ locks, incomplete }) {
    if (locks.length > 0) {
        return [`${(0,words/* count */.U9)(locks.length, 'file is', 'files are')} locked, and \`fail-if-locked\` is set.`];
    }
    return incomplete === undefined
        ? []
        : [`${incomplete} With \`fail-if-locked\`, a file passes only if it is known not to be locked.`];
}
/** Lists the locks, of all the workspace, of some paths or of what a change touches, but for those of owners that do not count. */
async function listLocks(parts, task, extent) {
    const { client, log, conceal } = parts;
    const { workspace, ignoredOwners, failIfLocked } = task;
    const within = ordinaryLimits(parts);
    const { paths, among } = await lookUp(extent, parts, within);
    const { items, incomplete } = paths === undefined
        ? await client.listLocks({ workspace }, within)
        : await listOnPaths(client, workspace, paths, within);
    if (incomplete !== undefined)
        log.warn(incomplete);
    const locks = items
        .filter(({ owner }) => owner === undefined || !ignoredOwners.includes(owner))
        .sort((one, other) => (one.path < other.path ? -1 : 1));
    const found = { locks, ignored: items.length - locks.length, incomplete };
    const now = client.serverNow();
    const sentence = sentenceOf(found, `${workspace}${among}`);
    log.group(sentence, locks.map((lock) => heldText(lock.path, lock, now)));
    const failures = failIfLocked ? failuresOf(found) : [];
    const known = locks.length > 0 ? { status: 'locked' } : failures.length === 0 ? { status: 'free' } : {};
    return {
        outputs: { ...known, count: String(locks.length), locks: toldJson(locks.map(asOutput), conceal) },
        sentence,
        tables: [table(locks, now)],
        failures,
        notes: failIfLocked ? locks.map((lock) => note(lock, now)) : [],
    };
}

// EXTERNAL MODULE: ./build/bundle/compiled/action/outcome.js
var outcome = __webpack_require__(8776);
;// CONCATENATED MODULE: ./build/bundle/compiled/action/operations/list-named.js




/** Everything that the service said, with the name under the key that the interface gives it. */
const list_named_asOutput = ({ conceal }, items, key) => toldJson(items.map(({ name, raw }) => ({ [key]: name, ...raw })), conceal);
function tell({ log }, { items, incomplete }, sentence) {
    log.group(sentence, items.map(({ name }) => name));
    if (incomplete !== undefined)
        log.warn(incomplete);
}
async function listWorkspaces(parts) {
    const list = await parts.client.listWorkspaces(ordinaryLimits(parts));
    const sentence = `The token can see ${(0,words/* count */.U9)(list.items.length, 'workspace')}.`;
    tell(parts, list, sentence);
    return (0,outcome/* succeeded */.gq)({ status: 'ok', count: String(list.items.length), workspaces: list_named_asOutput(parts, list.items, 'id') }, sentence, { head: ['Workspace'], rows: list.items.map(({ name }) => [name]) });
}
const list_named_text = (value) => (typeof value === 'string' ? value : '');
async function listBranches(parts, { workspace }) {
    const list = await parts.client.listBranches({ workspace }, ordinaryLimits(parts));
    const sentence = `The workspace ${workspace} has ${(0,words/* count */.U9)(list.items.length, 'branch', 'branches')}.`;
    tell(parts, list, sentence);
    return (0,outcome/* succeeded */.gq)({ status: 'ok', count: String(list.items.length), branches: list_named_asOutput(parts, list.items, 'name') }, sentence, {
        head: ['Branch', 'Head', 'Synced'],
        rows: list.items.map(({ name, raw }) => [name, list_named_text(raw['head']), list_named_text(raw['synced_head'])]),
    });
}

// EXTERNAL MODULE: external "node:fs"
var external_node_fs_ = __webpack_require__(3024);
// EXTERNAL MODULE: ./build/bundle/compiled/action/ledger/entry.js
var entry = __webpack_require__(1812);
;// CONCATENATED MODULE: ./build/bundle/compiled/action/ledger/kept.js



/** It becomes one environment string, which has at most 32,767 characters on Windows. */
const longest = 30_000;
/** Only what proves a lock, and when it ends. */
const compact = ({ lock }) => ({
    path: lock.path,
    type: lock.type,
    id: lock.id,
    etag: lock.etag,
    acquired_at: lock.acquired_at,
    fence: lock.fence,
    expires_at: lock.expires_at,
});
function keptText(about, grants, conceal) {
    const all = (0,ledger_ledger/* concealedJson */.du)({ ...about, locks: grants.map(compact) }, conceal);
    return all.length <= longest ? all : JSON.stringify(about);
}
/** Undefined when the step did not come so far. */
function readKept(text) {
    let value;
    try {
        value = JSON.parse(text);
    }
    catch {
        return undefined;
    }
    if (typeof value !== 'object' || value === null)
        return undefined;
    // An object that JSON made has nothing but string keys.
    const { service, workspace, handedOn, locks } = value;
    if (typeof service !== 'string' || typeof workspace !== 'string' || !parseWorkspaceId(workspace).ok)
        return undefined;
    return {
        service,
        workspace,
        handedOn: handedOn === true,
        locks: Array.isArray(locks) ? locks.filter(isGrantedLock) : undefined,
    };
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/ledger/recorder.js
/** Writes to the ledger; when that fails, says so once and goes on: a lock that is wanted is not given up for it. */
function createRecorder(ledger, log) {
    let failed = false;
    return (entry) => {
        try {
            ledger.append(entry);
        }
        catch (error) {
            if (failed)
                return;
            failed = true;
            const why = error instanceof Error ? error.message : String(error);
            log.warn(`The ledger of this job's locks cannot be written (${why}). If a step is killed before it is done, the locks it was about to take or release can stay until their ttl ends.`);
        }
    };
}

// EXTERNAL MODULE: ./build/bundle/compiled/interface/lock-path.js
var lock_path = __webpack_require__(5860);
;// CONCATENATED MODULE: ./build/bundle/compiled/action/ledger/history.js
/** Whether an entry is about this lock. One that names none is about whatever was held there. */
function isAbout({ etag, id }, lock) {
    if (etag !== undefined && lock.etag !== undefined)
        return etag === lock.etag;
    if (id !== undefined && lock.id !== undefined)
        return id === lock.id;
    return true;
}
const keyOf = ({ service, workspace, path }) => JSON.stringify([service, workspace, path]);
/** Reads entries in their order: later ones say what became of earlier ones. */
function historyOf(entries) {
    const unclear = new Map();
    /** Of each place, by the keys of their requests: what was asked for again under its key is the same lock. */
    const held = new Map();
    const grants = new Map();
    const endings = new Map();
    const stepNames = new Map();
    function locksAt(place) {
        const key = keyOf(place);
        const locks = held.get(key) ?? new Map();
        held.set(key, locks);
        return locks;
    }
    for (const entry of entries) {
        switch (entry.kind) {
            case 'wish':
                if (entry.stepName !== undefined)
                    stepNames.set(entry.step, entry.stepName);
                break;
            case 'intent':
                unclear.set(entry.key, entry);
                break;
            case 'denied':
                unclear.delete(entry.key);
                break;
            case 'granted': {
                unclear.delete(entry.key);
                const locks = locksAt(entry);
                locks.delete(entry.key);
                locks.set(entry.key, { grant: entry, releaseBegun: false });
                grants.set(`${entry.step} ${keyOf(entry)}`, entry);
                break;
            }
            case 'releasing':
                locksAt(entry).forEach(({ grant }, key, locks) => {
                    if (isAbout(entry, grant.lock))
                        locks.set(key, { grant, releaseBegun: true });
                });
                break;
            case 'ended':
                locksAt(entry).forEach(({ grant }, key, locks) => {
                    if (!isAbout(entry, grant.lock))
                        return;
                    locks.delete(key);
                    endings.set(grant, entry);
                });
                break;
        }
    }
    return {
        held: [...held.values()].flatMap((locks) => [...locks.values()]),
        unclear: [...unclear.values()],
        grants: [...grants.values()],
        endings,
        stepNames,
    };
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/ledger/job-locks.js


/** A job that has locked nothing has no ledger. */
function readContent(ledger) {
    try {
        return ledger.read();
    }
    catch (error) {
        const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
        return { entries: [], damaged: isMissing ? 0 : 1 };
    }
}
function readJobLocks(ledger, service, workspace) {
    const { entries, damaged } = readContent(ledger);
    const here = (place) => place.service === service && place.workspace === workspace;
    const { held, stepNames } = historyOf(entries);
    const byPath = new Map();
    for (const lock of held) {
        const path = (0,lock_path/* parseLockPath */.Ix)(lock.grant.path);
        if (path.ok && here(lock.grant))
            byPath.set(path.value, lock);
    }
    return {
        held: byPath,
        wanted: new Set(entries.flatMap((entry) => (entry.kind === 'wish' && here(entry) ? entry.paths : []))),
        stepNames,
        damaged: damaged > 0,
    };
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/locks/ownership.js

/** Answers are a moment on their way, too. */
const clockSlackMs = 2 * answerClockMs;
const differ = (one, other) => one !== undefined && other !== undefined && one !== other;
const msBetween = (one, other) => one === undefined || other === undefined ? Number.NaN : Date.parse(other) - Date.parse(one);
const isWholeSecond = (time) => Date.parse(time ?? '') % 1_000 === 0;
/** A service may give its answers and its lists times of different precision: one that was cut or rounded tells less. */
function areDifferentMoments(one, other) {
    const ms = Math.abs(msBetween(one, other));
    return ms >= 1_000 || (ms > 0 && !isWholeSecond(one) && !isWholeSecond(other));
}
/** Something that both tell is different, or it was taken after ours. */
const isAnother = (own, listed) => differ(own.id, listed.id) ||
    differ(own.owner, listed.owner) ||
    areDifferentMoments(own.acquired_at, listed.acquired_at) ||
    msBetween(own.grantedAt, listed.acquired_at) > clockSlackMs;
/** The same owner may have taken the path twice; only the id and the time tell. */
const isSame = (own, listed) => (own.id !== undefined && own.id === listed.id) || msBetween(own.acquired_at, listed.acquired_at) === 0;
function compare(own, listed) {
    if (isAnother(own, listed))
        return { kind: 'lost', holder: listed };
    return isSame(own, listed) ? { kind: 'ours' } : { kind: 'unknown' };
}
/** What the service's list says of a lock. */
async function ownershipByList(client, place, own, within) {
    const { workspace, path } = place;
    const { items, incomplete } = await client.listLocks({ workspace, filter: { path } }, within);
    const [listed] = items;
    if (listed !== undefined)
        return compare(own, listed);
    return { kind: incomplete === undefined ? 'gone' : 'unknown' };
}
/** Whether its lifetime has ended, or is about to. A lock of which no end is known may have ended. */
function isOver({ expires_at = '' }, serverNow) {
    const end = Date.parse(expires_at);
    return !(end > serverNow + clockSlackMs);
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/locks/passing.js
/** Trouble that may be over at the next attempt. */
function isPassing({ failure, status }) {
    if (failure.kind === 'aborted')
        return false;
    if (status !== undefined)
        return status === 408 || status === 425 || status === 429 || status >= 500;
    return (failure.kind === 'deadline' || failure.kind === 'timeout' || (failure.kind === 'connection' && !failure.untrusted));
}
/** What the service has asked to wait for. */
function askedToWaitMs({ failure }) {
    return failure.kind === 'deadline' || failure.kind === 'refused' ? failure.retryAfterMs : undefined;
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/locks/release-one.js



const isProven = ({ etag, id }) => etag !== undefined || id !== undefined;
const firstPauseMs = 500;
const longestPauseMs = 5_000;
const never = new AbortController().signal;
/** A service may let a token take and release locks and not list them. */
const refusesLists = ({ status = 0 }) => [403, 404, 405, 501].includes(status);
/** The service may have done what it gave no good answer to. */
function mayBeDone({ failure, status, attempts }) {
    if (failure.kind === 'connection')
        return failure.mayHaveArrived;
    // Of the attempt that the deadline has cut off nothing is known; the status is that of the one before it.
    if (failure.kind === 'deadline')
        return attempts > 0;
    return status === undefined || status >= 500 || (status >= 200 && status < 300);
}
/**
 * Without an ETag or an id a release says only of which path it is. So each one is sent once, and only after a look at
 * what is there: what was on its way and got lost may have released the lock, and the path may be somebody else's now.
 */
async function releaseUnproven(parts, asked, within) {
    const { client, clock, sleep, random } = parts;
    const { workspace, path, lock, doubtful = false, force } = asked;
    let sent = false;
    async function look() {
        try {
            return await ownershipByList(client, asked, lock, within);
        }
        catch (error) {
            if (!(error instanceof client_client/* ServiceError */._7))
                throw error;
            return refusesLists(error) ? { kind: 'unknown' } : error;
        }
    }
    for (let failed = 1;; failed += 1) {
        const found = await look();
        if (found instanceof client_client/* ServiceError */._7)
            return { kind: 'failed', error: found };
        if (found.kind === 'lost')
            return sent ? { kind: 'released' } : found;
        const unsure = doubtful || sent || isOver(lock, client.serverNow());
        if (found.kind === 'gone' && unsure)
            return { kind: sent ? 'released' : 'absent' };
        if (found.kind === 'unknown' && unsure)
            return { kind: 'left-alone' };
        const release = await client.releaseLock({ workspace, path, force, attempts: 'once' }, within);
        if (release.kind !== 'failed')
            return release.kind === 'absent' && sent ? { kind: 'released' } : release;
        const { error } = release;
        sent ||= mayBeDone(error);
        const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** failed) * (0.5 + random() / 2);
        if (!isPassing(error) || clock() + pauseMs >= within.deadline)
            return release;
        await sleep(pauseMs, within.signal ?? never);
    }
}
/** Releases a lock if it is ours: with its ETag where there is one, else after a look at the list. */
async function releaseOne(parts, asked, within) {
    const { workspace, path, lock, force } = asked;
    if (isProven(lock))
        return parts.client.releaseLock({ workspace, path, proof: lock, force }, within);
    return releaseUnproven(parts, asked, within);
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/locks/release-found.js



async function findIn(list) {
    try {
        const { items, incomplete } = await list;
        const locks = new Map(items.map((lock) => [lock.path, lock]));
        return (path) => {
            const lock = locks.get(path);
            if (lock !== undefined)
                return { kind: 'locked', lock };
            return { kind: incomplete === undefined ? 'absent' : 'unknown' };
        };
    }
    catch (error) {
        if (!(error instanceof client_client/* ServiceError */._7))
            throw error;
        const found = refusesLists(error) ? { kind: 'unknown' } : { kind: 'failed', error };
        return () => found;
    }
}
/** Whether a request can be repeated, because it says which lock it is about. */
const release_found_isProven = (found) => found.kind === 'locked' && (found.lock.etag ?? found.lock.id) !== undefined;
/** What a release that was sent once, and whose answer was lost, has done: told by what is on the path now. */
function judgeByLook(before, now, error) {
    if (before.kind !== 'locked')
        return { kind: 'unclear', error };
    if (now.kind === 'absent')
        return { kind: 'released' };
    if (now.kind !== 'locked')
        return { kind: 'unclear', error };
    switch (compare(before.lock, now.lock).kind) {
        case 'lost':
            return { kind: 'released' };
        case 'ours':
            return { kind: 'failed', error };
        case 'gone':
        case 'unknown':
            return { kind: 'unclear', error };
    }
}
/**
 * Releases the lock that was found, and no later one. Where neither ETag nor id tells them apart it is sent once: its
 * answer may get lost, and the path be somebody else's by the time of a second attempt.
 */
async function releaseFound(client, { workspace, path, found, force }, within) {
    if (found.kind === 'absent')
        return found;
    if (found.kind === 'locked' && release_found_isProven(found)) {
        return client.releaseLock({ workspace, path, proof: found.lock, force }, within);
    }
    const release = await client.releaseLock({ workspace, path, force, attempts: 'once' }, within);
    if (release.kind !== 'failed' || !mayBeDone(release.error))
        return release;
    const find = await findIn(client.listLocks({ workspace, filter: { path } }, within));
    return judgeByLook(found, find(path), release.error);
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/locks/already-held.js







/** If the list cannot be had in this time, the locks are asked for as if nothing were known. */
const maxLookMs = 10_000;
/** What the ledger has is believed where the service does not tell locks apart, or does not list them. */
function stands({ grant, releaseBegun }, found, serverNow) {
    const believed = !releaseBegun && !isOver(grant.lock, serverNow);
    switch (found.kind) {
        case 'absent':
        case 'failed':
            return false;
        case 'unknown':
            return believed;
        case 'locked': {
            const { kind } = compare({ ...grant.lock, grantedAt: grant.at }, found.lock);
            return kind === 'ours' || (kind === 'unknown' && believed);
        }
    }
}
const listedLock = (found) => (found.kind === 'locked' ? found.lock : undefined);
/**
 * The locks that earlier steps of this job have on the paths. The ledger names them, and the service says whether they
 * still stand: one that has expired, or was released by force, is no reason not to lock the path anew.
 */
async function findAlreadyHeld(parts, service, workspace, paths) {
    const { client, clock, ledger } = parts;
    const { held, stepNames } = readJobLocks(ledger, service, workspace);
    const candidates = paths.filter((path) => held.has(path));
    if (candidates.length === 0)
        return [];
    const { deadline, signal } = ordinaryLimits(parts);
    const within = { signal, deadline: Math.min(deadline, clock() + maxLookMs) };
    const find = await findIn(listOnPaths(client, workspace, candidates, within));
    return candidates.flatMap((path) => {
        const lock = held.get(path);
        const found = find(path);
        if (lock === undefined || !stands(lock, found, client.serverNow()))
            return [];
        const { grant } = lock;
        const listed = listedLock(found);
        return {
            path,
            owner: listed?.owner ?? grant.lock.owner,
            expiresAt: Date.parse(listed?.expires_at ?? grant.lock.expires_at),
            stepName: stepNames.get(grant.step),
        };
    });
}
/** The runner itself names a step that has no id, and begins such names with two underscores. */
function stepText(name) {
    if (name === undefined)
        return 'an earlier step';
    return name.startsWith('__') ? `an earlier step without an \`id\` (${name})` : `the step \`${name}\``;
}
const maxNamed = 3;
function namedPaths(own) {
    const more = own.length - maxNamed;
    const names = own.slice(0, maxNamed).map(({ path }) => path);
    return names.join(', ') + (more > 0 ? ` and ${(0,words/* count */.U9)(more, 'more', 'more')}` : '');
}
/** Says whose the locks are, until when, and what to do: there is nothing to wait for. */
function alreadyHeldText(own, asked, now) {
    const steps = [...new Set(own.map(({ stepName }) => stepText(stepName)))].join(' and ');
    const soonest = Math.min(...own.map(({ expiresAt }) => expiresAt));
    const until = Number.isNaN(soonest) ? '' : `, until ${(0,words/* moment */.n$)(soonest, now)}`;
    const who = `This job holds ${namedPaths(own)} already: ${steps} locked ${own.length === 1 ? 'it' : 'them'}${until}.`;
    const release = 'release what is not needed any more with `operation: unlock`';
    if (own.length < asked.paths.length) {
        return `${who} Name only the other paths here, or ${release} before this step.`;
    }
    // Half of it: some of the lifetime is over whenever a later step asks.
    return soonest - now >= (asked.ttl.seconds * 1_000) / 2
        ? `${who} That is everything that this step names, for at least half of its \`ttl\` of ${(0,duration/* formatDuration */.a3)(asked.ttl)}: leave this step out, or ${release} before it.`
        : `${who} That is everything that this step names: leave it out and raise the \`ttl\` of the earlier step, or ${release} before it.`;
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/locks/keeper.js




function grantedLock(taken, ttl, serverNow) {
    const { path, type, id, etag, owner, acquired_at, fence, expires_at } = taken;
    const end = expires_at ?? new Date(serverNow + ttl.seconds * 1_000).toISOString();
    return { path, type, id, etag, owner, acquired_at, fence, expires_at: end };
}
/** Answers are a moment on their way, too. */
const keeper_clockSlackMs = 2 * answerClockMs;
function createKeeper(parts, record) {
    const { client, clock, step, origin } = parts;
    /** When this process first asked for a path, and when with a key. */
    const firstAsked = new Map();
    const askedWith = new Map();
    const now = () => new Date(client.serverNow()).toISOString();
    /** When it was asked for, by the clock of the service. */
    function askedAt({ key, at, byService }) {
        const here = askedWith.get(key);
        if (here !== undefined)
            return client.serverNow() - (clock() - here);
        return byService ? Date.parse(at) : Number.NaN;
    }
    /** Whether the lock that is in the way can be the one that we have asked for, as far as it tells. */
    function canBeOurs(holder, intent) {
        if (holder?.origin !== undefined && origin !== undefined && holder.origin !== origin)
            return false;
        // Where one of the times is not known, the comparison is false.
        return !(Date.parse(holder?.acquired_at ?? '') < askedAt(intent) - keeper_clockSlackMs);
    }
    /** Whether a request that was sent before has got its lock only now. */
    function isAnew(lock, replayed, sentAt) {
        if (replayed)
            return false;
        const acquired = Date.parse(lock.acquired_at ?? '');
        return Number.isNaN(acquired) ? undefined : acquired >= client.serverNow() - (clock() - sentAt) - keeper_clockSlackMs;
    }
    return {
        async ask(intent, keySentBefore, within) {
            const { service, key, type } = intent;
            const { workspace, path } = (0,entry/* addressIn */._Q)(intent);
            const ttl = (0,entry/* ttlIn */.eg)(intent);
            if (!firstAsked.has(path))
                firstAsked.set(path, clock());
            if (!keySentBefore)
                askedWith.set(key, clock());
            const sentAt = clock();
            const acquisition = await client.acquireLock({ workspace, path, type, ttl, idempotencyKey: key, keySentBefore }, within);
            const place = { service, workspace, path, step, key };
            switch (acquisition.kind) {
                case 'acquired': {
                    const lock = grantedLock(acquisition.lock, ttl, client.serverNow());
                    const waitedMs = Math.round(clock() - (firstAsked.get(path) ?? clock()));
                    const grant = { kind: 'granted', ...place, waitedMs, lock, at: now() };
                    record(grant);
                    const anew = !keySentBefore || isAnew(acquisition.lock, acquisition.replayed, sentAt);
                    return { kind: 'taken', grant, anew };
                }
                case 'held': {
                    const { holder, retryAfterMs, error, mayBeOurs } = acquisition;
                    const holding = { path, holder, retryAfterMs, error };
                    // A service that knows no keys takes a repetition for another request, and refuses it because of the first.
                    if (mayBeOurs && canBeOurs(holder, intent))
                        return { kind: 'unclear', intent, error, holding };
                    record({ kind: 'denied', ...place, at: now() });
                    return { kind: 'held', ...holding };
                }
                case 'unclear':
                    return { kind: 'unclear', intent, error: acquisition.error, holding: undefined };
                case 'failed':
                    record({ kind: 'denied', ...place, at: now() });
                    return { kind: 'failed', error: acquisition.error };
            }
        },
        async giveBack(grant, within, doubtful) {
            const { service, lock, at } = grant;
            const { workspace, path } = (0,entry/* addressIn */._Q)(grant);
            const what = { service, workspace, path, id: lock.id, etag: lock.etag };
            record({ kind: 'releasing', ...what, at: now() });
            const release = await releaseOne(parts, { workspace, path, lock: { ...lock, grantedAt: at }, doubtful }, within);
            if (release.kind !== 'failed' && release.kind !== 'left-alone') {
                record({ kind: 'ended', ...what, how: release.kind, at: now() });
            }
            return release;
        },
    };
}
/** Asks for new locks: the intent of each is in the ledger before its request is sent. */
function createTaker({ client, step, announce }, record, keeper, { service, workspace, type, ttl }) {
    let announced = false;
    let answered = false;
    return async (path, within) => {
        const intent = {
            kind: 'intent',
            service,
            workspace,
            path,
            step,
            key: crypto.randomUUID(),
            type,
            ttl: (0,duration/* formatDuration */.a3)(ttl),
            at: new Date(client.serverNow()).toISOString(),
            byService: answered,
        };
        record(intent);
        // After the first line of the ledger, so that who reads it finds one.
        if (!announced)
            announce();
        announced = true;
        const taking = await keeper.ask(intent, false, within);
        answered ||= taking.kind === 'taken' || taking.kind === 'held';
        return taking;
    };
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/locks/left-behind.js


/** Of a request without an answer: until when there may be a lock that nobody can show to be theirs. */
const unprovenText = ({ path, ttl, at }) => `Whether ${path} was locked by this step is not known: its request of ${at} had no answer, and the service does not tell now. If it was, that lock ends ${ttl} after it was taken.`;
/** What happened to the locks that were taken before it turned out that not all can be had. */
function backTexts(back, asked, now) {
    const texts = [];
    const had = back.done.length + back.lost.length + back.leftAlone.length + back.failed.length;
    if (had > 0) {
        texts.push(`Of ${(0,words/* count */.U9)(asked, 'path')}, ${(0,words/* grouped */.zD)(had)} had been locked; ${(0,words/* grouped */.zD)(back.done.length)} given back.`);
    }
    for (const { grant, error } of back.failed) {
        texts.push(`The lock on ${grant.path} could not be given back and stays until ${(0,words/* clockTime */.qo)(Date.parse(grant.lock.expires_at), now)}, unless the end of the job can release it: ${error.message}`);
    }
    for (const { grant, holder } of back.lost) {
        texts.push(`The lock on ${grant.path} was lost before it could be given back. ${heldText(grant.path, holder, now)}.`);
    }
    for (const { path } of back.leftAlone) {
        texts.push(`The lock on ${path} may have ended meanwhile, and the service gave nothing to tell it from another: what is there now has been left alone.`);
    }
    return texts;
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/locks/wait-advice.js


const hour = 60;
/** The next number of minutes that people would write: strictly later, so that it is longer than the lock. */
function later(minutes) {
    const step = [1, 5, 15, hour].findLast((each) => minutes >= 2 * each) ?? 1;
    return (Math.floor(minutes / step) + 1) * step;
}
const longestSuggestion = 6 * hour;
/** What to set so that the next run waits for the path. Jobs have time limits: nobody waits for days. */
function waitAdvice(expiresAt, now) {
    const ms = expiresAt === undefined ? Number.NaN : Date.parse(expiresAt) - now;
    // A lock that was just taken for 2 h has a little more or less by the clock of answers: the advice is the same.
    const minutes = Math.ceil((ms - answerClockMs) / 60_000);
    if (!(ms > 0) || minutes > longestSuggestion)
        return 'Set `wait` to wait for it.';
    return `Set \`wait: ${(0,duration/* formatDuration */.a3)({ seconds: later(minutes) * 60 })}\` to wait for it.`;
}

// EXTERNAL MODULE: ./build/bundle/compiled/action/locks/in-parallel.js
var in_parallel = __webpack_require__(2982);
;// CONCATENATED MODULE: ./build/bundle/compiled/action/locks/give-back.js

/** Gives back what was granted, and what turns out to have been granted once the service is asked again. */
async function giveBackAll(keeper, { taken, unclear }, within) {
    const done = [];
    const lost = [];
    const leftAlone = [];
    const failed = [];
    const unproven = [];
    async function giveBack(grant) {
        const release = await keeper.giveBack(grant, within);
        switch (release.kind) {
            case 'released':
            case 'absent':
                done.push(grant);
                return;
            case 'lost':
                lost.push({ grant, holder: release.holder });
                return;
            case 'left-alone':
                leftAlone.push(grant);
                return;
            case 'failed':
                failed.push({ grant, error: release.error });
                return;
        }
    }
    async function clearUp(intent) {
        const taking = await keeper.ask(intent, true, within);
        switch (taking.kind) {
            case 'taken':
                await giveBack(taking.grant);
                return;
            case 'held':
            case 'failed':
                return;
            case 'unclear':
                unproven.push(intent);
                return;
        }
    }
    await (0,in_parallel/* inParallel */.H)(taken, giveBack);
    await (0,in_parallel/* inParallel */.H)(unclear, clearUp);
    return { done, lost, leftAlone, failed, unproven };
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/locks/last-attempt.js
const minLastAttemptMs = 300;
const maxLastAttemptMs = 5_000;
/**
 * How long before the end of a wait the last attempt begins, so that it is over by then: twice the time that the attempt
 * before it took, because the last one may be slower.
 */
const lastAttemptMs = (previousTookMs) => Math.min(maxLastAttemptMs, Math.max(minLastAttemptMs, 2 * previousTookMs));

;// CONCATENATED MODULE: ./build/bundle/compiled/action/locks/listen.js


/** Proxies in between cut what is silent for a minute. */
const maxSeconds = 30;
/** An answer that comes sooner than this was not waited for. */
const quickMs = 1_000;
const maxQuickAnswers = 3;
/**
 * Lets the service say when a path comes free, for as long as it shows that it waits (RFC 7240, `Prefer: wait`). One
 * that does not is not asked again; one that did once may be restarting, and is.
 */
function createListener({ client, clock, signal, log, workspace }) {
    let listens = true;
    let hasWaited = false;
    let quickAnswers = 0;
    function isTooQuick(began) {
        quickAnswers = clock() - began < quickMs ? quickAnswers + 1 : 0;
        return quickAnswers > maxQuickAnswers;
    }
    return async (path, until, waitEnds) => {
        while (listens && !signal.aborted) {
            const began = clock();
            const seconds = Math.min(maxSeconds, Math.floor((until - began) / 1_000));
            if (seconds < 1)
                return 'nothing';
            const result = await client.waitForRelease({ workspace, path, seconds }, { deadline: until, signal });
            switch (result.kind) {
                case 'free':
                    hasWaited = true;
                    return isTooQuick(began) ? 'nothing' : 'free';
                case 'held': {
                    hasWaited = true;
                    if (isTooQuick(began))
                        return 'nothing';
                    const left = (0,duration/* span */.Ln)((waitEnds - clock()) / 1_000);
                    log.line(`${heldText(path, result.holder, client.serverNow(), true)}. Waiting, ${left} left.`);
                    break;
                }
                case 'failed':
                    listens = hasWaited;
                    return 'nothing';
                case 'unsupported':
                    listens = false;
                    return 'nothing';
            }
        }
        return 'nothing';
    };
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/locks/take-all.js

/**
 * Asks for the paths until one of them cannot be had: all or nothing, so there is no use in going on. The first one
 * alone: of those who want the same paths one gets it, and the others have taken nothing that they would have to give
 * back. The rest in parallel.
 */
async function takeAll(take, paths, within, signal) {
    const taken = [];
    const unclear = [];
    let held;
    let error;
    const goOn = () => held === undefined && error === undefined && !signal.aborted;
    async function takeOne(path) {
        const taking = await take(path, within);
        switch (taking.kind) {
            case 'taken':
                taken.push(taking.grant);
                return;
            case 'held':
                held ??= taking;
                return;
            case 'unclear':
                unclear.push(taking.intent);
                if (taking.holding === undefined)
                    error ??= taking.error;
                else
                    held ??= taking.holding;
                return;
            case 'failed':
                error ??= taking.error;
                return;
        }
    }
    await (0,in_parallel/* inParallel */.H)(paths.slice(0, 1), takeOne, goOn);
    await (0,in_parallel/* inParallel */.H)(paths.slice(1), takeOne, goOn);
    return { taken, unclear, held, error };
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/locks/winding-up.js
/** A cancelled step has to be gone in 5 s, and some of that goes into starting to end and into telling. */
const afterCancelMs = 3_500;
/** Limits for what has to be put in order: cancelled or not, it is done, but once cancelled it is done quickly. */
function windingUp(clock, patienceMs, cancelled) {
    const late = new AbortController();
    let timer;
    const hurry = () => {
        timer = setTimeout(() => late.abort(), afterCancelMs);
    };
    if (cancelled.aborted)
        hurry();
    else
        cancelled.addEventListener('abort', hurry, { once: true });
    return {
        deadline: clock() + patienceMs,
        signal: late.signal,
        lift() {
            cancelled.removeEventListener('abort', hurry);
            clearTimeout(timer);
        },
    };
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/locks/wait-for-all.js









/** What is not settled by then is the post-step's. */
const giveBackMs = 10_000;
const wait_for_all_firstPauseMs = 1_000;
const wait_for_all_longestPauseMs = 10_000;
const growth = 1.5;
async function giveBack({ clock, keeper, signal }, what) {
    const limits = windingUp(clock, giveBackMs, signal);
    return giveBackAll(keeper, what, limits).finally(limits.lift);
}
/** Takes all, or gives back what it took. */
async function playRound(parts, paths, owed, within) {
    const { client, take, signal } = parts;
    // What could not be given back in the round before would stand in our own way.
    const before = await giveBack(parts, { taken: owed, unclear: [] });
    const [stuck] = before.failed;
    if (stuck !== undefined)
        return { kind: signal.aborted ? 'cancelled' : 'failed', error: stuck.error, back: before };
    const haul = await takeAll(take, paths, within, signal);
    const ended = haul.taken.find(({ lock }) => Date.parse(lock.expires_at) <= client.serverNow());
    if (haul.taken.length === paths.length && ended === undefined && !signal.aborted) {
        return { kind: 'acquired', taken: haul.taken };
    }
    const back = await giveBack(parts, haul);
    if (signal.aborted)
        return { kind: 'cancelled', back };
    if (haul.held !== undefined)
        return { kind: 'held', holding: haul.held, back };
    if (haul.error !== undefined)
        return { kind: 'failed', error: haul.error, back };
    if (ended !== undefined)
        return { kind: 'too-short', ended, back };
    throw new Error('Locks are missing, and nothing says why.');
}
/** Each waits for a time of its own: those who wait for the same path may all have been told the same. */
function pauseMs(round, askedMs = 0, random) {
    const backoff = Math.min(wait_for_all_longestPauseMs, wait_for_all_firstPauseMs * growth ** round);
    return Math.max(backoff / 2, askedMs) + (random() * Math.max(backoff, askedMs)) / 2;
}
/** First what was held the last time: while it still is, nothing else needs to be taken and given back. */
const inTurn = (paths, blocked) => blocked === undefined ? paths : [blocked, ...paths.filter((path) => path !== blocked)];
/** Plays rounds until one of them takes all, or the wait is over. One deadline holds for all that it does until then. */
async function waitForAll(parts, paths, wait) {
    const { client, clock, sleep, random, signal, log } = parts;
    // In one order for everybody: two that want the same paths meet at the first of them.
    const sorted = paths.toSorted();
    const began = clock();
    const deadline = began + (0,duration/* milliseconds */.Rz)(wait);
    const ordinary = ordinaryLimits(parts);
    const listen = createListener(parts);
    const unproven = new Map();
    let lastHolding;
    let owed = [];
    for (let number = 0;; number += 1) {
        const roundBegan = clock();
        // The first round has the time that it has without a wait, and leaves of it what giving back can take.
        const within = { deadline: number === 0 ? Math.max(deadline, ordinary.deadline - giveBackMs) : deadline, signal };
        const round = await playRound(parts, inTurn(sorted, lastHolding?.path), owed, within);
        if (round.kind !== 'acquired') {
            for (const intent of round.back.unproven)
                unproven.set(intent.key, intent);
            owed = round.back.failed.map(({ grant }) => grant);
        }
        if (round.kind === 'held')
            lastHolding = round.holding;
        const waitedMs = number === 0 ? 0 : clock() - began;
        const played = { round, waitedMs, lastHolding, unproven: [...unproven.values()] };
        const goesOn = round.kind === 'held' || (round.kind === 'failed' && isPassing(round.error));
        const reservedMs = lastAttemptMs(clock() - roundBegan);
        const left = deadline - clock();
        if (!goesOn || left <= reservedMs)
            return played;
        const why = round.kind === 'held'
            ? `${heldText(round.holding.path, round.holding.holder, client.serverNow(), true)}.`
            : round.error.message;
        log.line(`${why} Waiting, ${(0,duration/* span */.Ln)(left / 1_000)} left.`);
        const until = deadline - reservedMs;
        if (round.kind === 'held' && (await listen(round.holding.path, until, deadline)) === 'free')
            continue;
        const askedMs = round.kind === 'held' ? round.holding.retryAfterMs : askedToWaitMs(round.error);
        await sleep(Math.min(pauseMs(number, askedMs, random), until - clock()), signal);
    }
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/operations/lock.js














function writeLocksFile({ locksFile, log }, locks) {
    try {
        (0,external_node_fs_.writeFileSync)(locksFile, locks, { mode: 0o600 });
        return { locks_file: locksFile };
    }
    catch (error) {
        log.warn(`The file with the locks could not be written: ${error instanceof Error ? error.message : String(error)}`);
        return {};
    }
}
/** From here on the post-step knows that the step has got all its locks, and whether it has to release them. */
function hand({ parts, task, service }, grants, outputs) {
    const { conceal, keep, publish } = parts;
    // Locks that outlive the job are of use to somebody only once that somebody can learn of them.
    if (!task.autoRelease)
        publish(outputs);
    keep(keptText({ service, workspace: task.workspace, handedOn: !task.autoRelease }, grants, conceal));
}
function acquired(lockStep, taken, { waitedMs, unproven }) {
    const { parts, task, began } = lockStep;
    const { client, log, conceal } = parts;
    const now = client.serverNow();
    const grants = taken.toSorted((one, other) => (one.path < other.path ? -1 : 1));
    const locks = grants.map(({ lock }) => lock);
    const json = (0,ledger_ledger/* concealedJson */.du)(locks, conceal);
    const soonest = Math.min(...locks.map(({ expires_at }) => Date.parse(expires_at)));
    const waited = waitedMs > 0 ? ` after waiting for ${(0,words/* duration */.p0)(waitedMs)}` : '';
    const until = Number.isNaN(soonest) ? '' : ` until ${(0,words/* moment */.n$)(soonest, now)}`;
    const what = locks.length === 1 ? (locks[0]?.path ?? '') : (0,words/* count */.U9)(locks.length, 'path');
    const sentence = `Locked ${what} in ${task.workspace}${until}${waited}.`;
    log.group(`${sentence} It took ${(0,words/* duration */.p0)(parts.clock() - began)}.`, locks.map(({ path, expires_at }) => `${path} until ${expires_at}`));
    for (const intent of unproven)
        log.line(unprovenText(intent));
    if (!task.autoRelease)
        log.line('The locks outlive this job: `auto-release` is false. Release them with `unlock` and the output `locks`.');
    const outputs = {
        status: 'acquired',
        acquired: 'true',
        count: String(locks.length),
        holder: '',
        waited_seconds: String(Math.floor(waitedMs / 1_000)),
        locks: json,
        ...writeLocksFile(parts, json),
    };
    hand(lockStep, grants, outputs);
    const rows = locks.map(({ path, expires_at }) => {
        const end = Date.parse(expires_at);
        return [path, (0,words/* clockTime */.qo)(end, now), (0,words/* distance */.Io)(end, now)];
    });
    return { outputs, sentence, tables: [{ head: ['Path', 'Until', ''], rows }], failures: [], notes: [] };
}
const holderTable = ({ path, holder }, now) => ({
    head: ['Path', 'Holder', 'Until', 'Taken by'],
    rows: [
        [
            path,
            holder?.owner ?? '',
            holder?.expires_at === undefined ? '' : (0,words/* clockTime */.qo)(Date.parse(holder.expires_at), now),
            holder?.origin ?? '',
        ],
    ],
});
const noLocks = { acquired: 'false', count: '0', locks: '[]' };
function notAcquired({ parts, task, paths }, round, { waitedMs, lastHolding, unproven }) {
    const { client, log } = parts;
    const now = client.serverNow();
    for (const text of backTexts(round.back, paths.length, now))
        log.line(text);
    for (const intent of unproven)
        log.line(unprovenText(intent));
    const outputs = {
        ...noLocks,
        waited_seconds: String(Math.floor(waitedMs / 1_000)),
    };
    const heldBy = (holding, why) => (0,outcome/* failed */.gz)({ ...outputs, status: 'held', holder: holding.holder?.owner ?? '' }, `${heldText(holding.path, holding.holder, now)}. ${why}`, holderTable(holding, now));
    const waited = `Waited ${(0,duration/* formatDuration */.a3)(task.wait)} for it. Raise \`wait\` to wait longer.`;
    switch (round.kind) {
        case 'held': {
            const { holding } = round;
            const advice = task.wait.seconds > 0 ? waited : waitAdvice(holding.holder?.expires_at, now);
            return heldBy(holding, advice);
        }
        case 'cancelled': {
            const all = round.back.failed.length + round.back.leftAlone.length + unproven.length === 0;
            return (0,outcome/* failed */.gz)(outputs, all
                ? 'The step was cancelled; what it had locked has been given back.'
                : 'The step was cancelled. Not all that it had locked could be given back in time: the end of the job tries again.');
        }
        case 'too-short': {
            const { path, lock } = round.ended;
            return (0,outcome/* failed */.gz)(outputs, `The lock on ${path} ended at ${pastMoment(Date.parse(lock.expires_at), now)}, before all ${(0,words/* count */.U9)(paths.length, 'path')} were locked. Raise \`ttl\`: it has to be longer than that takes, and than the job needs.`);
        }
        case 'failed':
            // The end of the wait cut off the last attempt: what was in the way before it is what there is to tell.
            if (lastHolding !== undefined && round.error.failure.kind === 'deadline')
                return heldBy(lastHolding, waited);
            return (0,outcome/* failed */.gz)(outputs, round.error.message);
    }
}
function heldByThisJob({ parts, task, paths }, own) {
    const now = parts.client.serverNow();
    const rows = own.map(({ path, stepName, expiresAt }) => [
        path,
        stepText(stepName),
        Number.isNaN(expiresAt) ? '' : (0,words/* clockTime */.qo)(expiresAt, now),
    ]);
    return (0,outcome/* failed */.gz)({ ...noLocks, status: 'held', holder: own[0]?.owner ?? '', waited_seconds: '0' }, alreadyHeldText(own, { paths, ttl: task.ttl }, now), { head: ['Path', 'Locked by', 'Until'], rows });
}
/** Takes all paths or none, and waits for those that others hold as long as it was told to. */
async function lock(parts, task, paths, service) {
    const record = createRecorder(parts.ledger, parts.log);
    const keeper = createKeeper(parts, record);
    const { workspace } = task;
    record({
        kind: 'wish',
        service,
        workspace,
        step: parts.step,
        stepName: parts.stepName,
        paths,
        at: new Date(parts.client.serverNow()).toISOString(),
    });
    const lockStep = { parts, task, service, paths, began: parts.clock() };
    const own = await findAlreadyHeld(parts, service, workspace, paths);
    if (own.length > 0)
        return heldByThisJob(lockStep, own);
    const take = createTaker(parts, record, keeper, { ...task, service });
    const played = await waitForAll({ ...parts, workspace, keeper, take }, paths, task.wait);
    const { round } = played;
    return round.kind === 'acquired' ? acquired(lockStep, round.taken, played) : notAcquired(lockStep, round, played);
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/operations/register-hook.js


/** Of the address only what names the receiver: path and query often hold a secret. */
const receiver = (url) => new URL(url).origin;
const textsIn = (value) => Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
/** GitHub and Buildkite know a caller by a token in its headers, and never look at a signature. */
const looksAtSignature = (format) => format !== 'github' && format !== 'buildkite';
async function registerHook(parts, task) {
    const { client, log } = parts;
    const { workspace, url, events, secret } = task;
    const { hook_id, replaced, madeSecret } = await client.registerHook({
        workspace,
        url,
        options: task.options,
        ...(events.length > 0 && { events }),
        ...(secret !== '' && { secret }),
    }, ordinaryLimits(parts));
    if (madeSecret !== undefined && looksAtSignature(task.options['format'])) {
        log.warn('The service made a secret for this webhook, and it is not shown here. To verify deliveries, set one of your own with `hook-secret`.');
    }
    const chosen = events.length > 0 ? events : textsIn(task.options['events']);
    const what = replaced ? 'The webhook was there already and has been replaced' : 'The webhook is registered';
    const sentence = `${what}: ${workspace} tells ${receiver(url)}.`;
    log.line(sentence);
    return (0,outcome/* succeeded */.gq)({ status: 'registered', ...(hook_id !== undefined && { hook_id }) }, sentence, {
        head: ['Workspace', 'Receiver', 'Events', 'Id'],
        rows: [[workspace, receiver(url), chosen.join(', ') || 'the default of the service', hook_id ?? '']],
    });
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/operations/sync.js







/** A sync of a few objects is over at once, one of many takes minutes: ask often at first, and less and less. */
const sync_firstPauseMs = 500;
const sync_longestPauseMs = 10_000;
const sync_growth = 1.5;
const outputsOf = (branch, sync) => ({
    status: sync.status,
    branch: sync.branch ?? branch,
    ...(sync.sync_id !== undefined && { sync_id: sync.sync_id }),
    ...(sync.estimated_objects !== undefined && { estimated_objects: String(sync.estimated_objects) }),
});
function progressText({ status, received_objects, estimated_objects }) {
    if (received_objects === undefined)
        return status;
    // An estimate of none is one of a service that does not know, or one that is nearly done.
    const of = estimated_objects === undefined || estimated_objects === 0 ? '' : ` of about ${(0,words/* grouped */.zD)(estimated_objects)}`;
    return `${status}, ${(0,words/* grouped */.zD)(received_objects)}${of} objects received`;
}
/** How many were received once it has ended; until then, how many there may be. */
function objectsText({ state, received_objects, estimated_objects }) {
    if (state !== 'going-on' && received_objects !== undefined)
        return (0,words/* grouped */.zD)(received_objects);
    return estimated_objects === undefined ? '' : `about ${(0,words/* grouped */.zD)(estimated_objects)}`;
}
/** Trouble that does not end the wait: the sync goes on at the service all the same. */
function passingError(error) {
    if (error instanceof client_client/* ServiceError */._7 && (isPassing(error) || error.failure.kind === 'aborted'))
        return error;
    throw error;
}
/**
 * Asks for the status until the sync has ended, and says something only when something has changed. The wait ends with
 * a last look shortly before the deadline: what the service asked to wait for may be longer than the wait.
 */
async function follow(parts, { started, address, tookMs, }, within) {
    const { client, clock, sleep, signal, log } = parts;
    let last = started;
    let said = `The sync is ${progressText(started)}.`;
    let pause = sync_firstPauseMs;
    let askedMs = started.retryAfterMs;
    let previousTookMs = tookMs;
    let unseen;
    let lookedLast = false;
    for (;;) {
        if (last.state !== 'going-on')
            return { kind: 'ended', last };
        if (signal.aborted)
            return { kind: 'cancelled', last };
        const left = within.deadline - clock();
        const reservedMs = lastAttemptMs(previousTookMs);
        if (left <= 0 || (lookedLast && left <= reservedMs))
            return { kind: 'out-of-time', last, unseen };
        const untilLastLook = Math.max(0, left - reservedMs);
        const pauseMs = Math.min(untilLastLook, Math.max(pause, askedMs ?? 0));
        await sleep(pauseMs, signal);
        if (signal.aborted)
            continue;
        pause = Math.min(sync_longestPauseMs, pause * sync_growth);
        lookedLast = pauseMs === untilLastLook;
        // A look before the last, with all its retries, leaves the last its time.
        const deadline = lookedLast ? within.deadline : within.deadline - reservedMs;
        const lookBegan = clock();
        const look = await client
            .syncStatus(address, { ...within, deadline }, { throttled: !lookedLast })
            .catch(passingError);
        previousTookMs = clock() - lookBegan;
        if (look instanceof client_client/* ServiceError */._7) {
            unseen = look;
            askedMs = askedToWaitMs(look);
        }
        else {
            unseen = undefined;
            last = look;
            askedMs = look.retryAfterMs;
        }
        const text = unseen === undefined ? `The sync is ${progressText(last)}.` : unseen.message;
        // How it has ended, and what the last look has shown, is told by whoever waits for it.
        if (text !== said && last.state === 'going-on' && !lookedLast && !signal.aborted)
            log.line(text);
        said = text;
    }
}
const sync_table = (workspace, branch, sync) => ({
    head: ['Workspace', 'Branch', 'Status', 'Objects', 'Head'],
    rows: [[workspace, branch, sync.status, objectsText(sync), sync.head ?? '']],
});
async function waitForEnd(parts, task, started, tookMs) {
    const { workspace, branch, wait } = task;
    const began = parts.clock();
    const failedAt = (sync, why) => (0,outcome/* failed */.gz)(outputsOf(branch, sync), why, sync_table(workspace, branch, sync));
    if (started.progress.kind === 'none' && started.state === 'going-on') {
        return failedAt(started, `The sync of ${branch} was started, but it cannot be waited for. ${started.progress.why} Remove \`wait\`, or use a service that offers the status of a sync.`);
    }
    const followed = started.progress.kind === 'none'
        ? { kind: 'ended', last: started }
        : await follow(parts, { started, address: started.progress.address, tookMs }, { deadline: began + (0,duration/* milliseconds */.Rz)(wait), signal: parts.signal });
    // What the first answer said is kept where later ones say nothing of it.
    const last = {
        ...followed.last,
        sync_id: followed.last.sync_id ?? started.sync_id,
        estimated_objects: started.estimated_objects ?? followed.last.estimated_objects,
    };
    switch (followed.kind) {
        case 'cancelled':
            return failedAt(last, `Waiting for the sync of ${branch} was cancelled; the service goes on with it.`);
        case 'out-of-time': {
            const { unseen } = followed;
            const what = unseen === undefined
                ? `has not ended within ${(0,duration/* formatDuration */.a3)(wait)}: it is ${progressText(last)}.`
                : `was not seen to end within ${(0,duration/* formatDuration */.a3)(wait)}: when it was last seen it was ${progressText(last)}. Asking again failed: ${unseen.message}`;
            const advice = 'The service goes on with it. Raise `wait` to wait longer.';
            return failedAt(last, `The sync of ${branch} ${what} ${advice}`);
        }
        case 'ended': {
            if (last.state === 'failed')
                return failedAt(last, `The sync of ${branch} failed: ${last.error ?? last.status}`);
            const took = (0,words/* duration */.p0)(parts.clock() - began);
            const received = last.received_objects === undefined ? '' : `, ${(0,words/* count */.U9)(last.received_objects, 'object')} received`;
            const sentence = `The branch ${branch} of ${workspace} is synced: ${last.status} after ${took}${received}.`;
            parts.log.line(sentence);
            return (0,outcome/* succeeded */.gq)(outputsOf(branch, last), sentence, sync_table(workspace, branch, last));
        }
    }
}
async function sync(parts, task) {
    const { client, clock, log, publish } = parts;
    const { workspace, branch, wait } = task;
    const began = clock();
    const started = await client.startSync({ workspace, branch }, ordinaryLimits(parts));
    const tookMs = clock() - began;
    publish(outputsOf(branch, started));
    const { estimated_objects: estimated } = started;
    const about = estimated === undefined
        ? ''
        : estimated === 0
            ? ', nothing new to receive'
            : `, about ${(0,words/* count */.U9)(estimated, 'object')} to receive`;
    const sentence = `The sync of ${branch} in ${workspace} is ${started.status}${about}.`;
    log.line(sentence);
    if (wait.seconds > 0)
        return waitForEnd(parts, task, started, tookMs);
    if (started.state === 'failed') {
        const why = `The sync of ${branch} failed: ${started.error ?? started.status}`;
        return (0,outcome/* failed */.gz)(outputsOf(branch, started), why, sync_table(workspace, branch, started));
    }
    return (0,outcome/* succeeded */.gq)(outputsOf(branch, started), sentence, sync_table(workspace, branch, started));
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/operations/unlock-result.js


const ofKind = (results, kind) => 
// The filter makes them of this kind, which the compiler cannot follow through a type parameter.
results.filter((result) => result.kind === kind);
/**
 * The word for all paths together, in the order of what a workflow has to know first: a lock was lost; something was
 * released; something is, or may be, locked still; nothing was there.
 */
function statusOf(results) {
    const kinds = new Set(results.map(({ kind }) => kind));
    if (kinds.has('lost'))
        return 'lost';
    if (kinds.has('released'))
        return 'released';
    return results.every(({ kind }) => kind === 'absent') ? 'absent' : 'held';
}
/** "held by grace until 14:05 UTC" */
function holderText(holder, now) {
    const until = holder?.expires_at === undefined ? '' : ` until ${(0,words/* clockTime */.qo)(Date.parse(holder.expires_at), now)}`;
    return `held by ${holder?.owner ?? 'somebody else'}${until}`;
}
function resultText(result, now) {
    switch (result.kind) {
        case 'released':
            return 'released';
        case 'absent':
            return 'was not locked';
        case 'lost':
            return 'held by somebody else, left alone';
        case 'held':
            return `${holderText(result.holder, now)}, left alone`;
        case 'not-ours':
            return 'not locked by this job, left alone';
        case 'left-alone':
            return 'not to be told from the lock of somebody else, left alone';
        case 'refused':
            return `${holderText(result.holder, now)}, and not this token’s to release`;
        case 'unclear':
            return 'not known to be released';
        case 'failed':
            return 'not released';
    }
}
function failureOf(result, now) {
    switch (result.kind) {
        case 'lost':
            return [`${heldText(result.path, result.holder, now)}: the lock was lost, and has been left alone.`];
        case 'refused': {
            const { path, holder, requestId } = result;
            const request = requestId === undefined ? '' : `, request id ${requestId}`;
            return [
                `${heldText(path, holder, now)}, and the service does not let this token release that lock (403${request}). If it has to go all the same, set \`force: true\` with a token that has the scope \`locks:admin\`.`,
            ];
        }
        case 'unclear':
            return [
                `Whether the lock on ${result.path} was released is not known: the release was sent only once, because nothing tells the lock from a later one. ${result.why}`,
            ];
        case 'failed':
            return [`The lock on ${result.path} was not released. ${result.why}`];
        default:
            return [];
    }
}
const unlock_result_maxNamed = 5;
/** The first few, and how many more there are. */
function listed(texts) {
    const more = texts.length - unlock_result_maxNamed;
    return texts.slice(0, unlock_result_maxNamed).join(', ') + (more > 0 ? ` and ${(0,words/* count */.U9)(more, 'more', 'more')}` : '');
}
function heldByText(held) {
    const owners = new Set(held.map(({ holder }) => holder?.owner ?? 'somebody else'));
    return `${held.length} held by ${listed([...owners])}`;
}
function unlock_result_sentenceOf(results, workspace) {
    const released = ofKind(results, 'released');
    const [first] = released;
    const what = first === undefined
        ? 'Nothing was released'
        : `Released ${results.length === 1 ? first.path : (0,words/* count */.U9)(released.length, 'lock')}`;
    if (results.length === 0)
        return `${what} in ${workspace}: this job has no lock on what the pattern matches.`;
    const held = ofKind(results, 'held');
    const others = [
        ['absent', 'not locked'],
        ['lost', 'lost'],
        ['not-ours', 'not of this job'],
        ['left-alone', 'left alone'],
    ]
        .map(([kind, words]) => [ofKind(results, kind).length, words])
        .filter(([number]) => number > 0)
        .map(([number, words]) => `${number} ${words}`);
    const failed = ['failed', 'refused', 'unclear'].reduce((sum, kind) => sum + ofKind(results, kind).length, 0);
    const parts = [
        `${what} in ${workspace}`,
        ...others,
        ...(held.length > 0 ? [heldByText(held)] : []),
        ...(failed > 0 ? [`${failed} not released`] : []),
    ];
    return `${parts.join(', ')}.`;
}
/** What is somebody else's and was asked for by name, as a caution; undefined where there is none. */
function cautionOf(results, now) {
    const held = ofKind(results, 'held').filter(({ asked }) => asked === 'by-name');
    const named = [...held, ...ofKind(results, 'not-ours')];
    const [first] = named;
    if (first === undefined)
        return undefined;
    const which = named.length > 1
        ? `This job has no lock on ${(0,words/* count */.U9)(named.length, 'of the paths', 'of the paths')}, and what is there is left alone: ${listed(named.map(({ path }) => path))}.`
        : first.kind === 'held'
            ? `${heldText(first.path, first.holder, now)}, and not by this job: it is left alone.`
            : `This job has no lock on ${first.path}, and who has one cannot be seen: what is there is left alone.`;
    return `${which} \`force: true\` would release it all the same.`;
}
/** What a pattern matches and is not this job's, as a line; undefined where there is none. */
function othersText(results, now) {
    const others = ofKind(results, 'held').filter(({ asked }) => asked === 'by-pattern');
    if (others.length === 0)
        return undefined;
    return `Left alone, because this job is not known to hold them: ${listed(others.map(({ path, holder }) => `${path} (${holderText(holder, now)})`))}.`;
}
function unlockOutcome(results, workspace, now) {
    const table = {
        head: ['Path', 'Result'],
        rows: results.map((result) => [result.path, resultText(result, now)]),
    };
    return {
        outputs: {
            status: statusOf(results),
            released: JSON.stringify(ofKind(results, 'released').map(({ path }) => path)),
        },
        sentence: unlock_result_sentenceOf(results, workspace),
        tables: [table],
        failures: results.flatMap((result) => failureOf(result, now)),
        notes: [],
    };
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/operations/unlock.js







/** To see who holds what is left alone is a courtesy: nobody waits long for it. */
const courtesyMs = 10_000;
const isMeant = (kind) => (meant) => meant.kind === kind;
const pathsOf = (meant) => meant.map(({ path }) => path);
/** A 403 that misses no scope is about the lock: it is somebody else's. */
const refusesThisLock = ({ failure }) => failure.kind === 'refused' && failure.status === 403 && failure.missingScope === undefined;
/** Who holds what is not this job's to release; nothing of a pattern where that cannot be seen. */
async function lookAtOthers({ client, clock }, workspace, toRelease, ordinary) {
    const within = { ...ordinary, deadline: Math.min(ordinary.deadline, clock() + courtesyMs) };
    async function lookAtWanted() {
        const paths = pathsOf(toRelease.filter(isMeant('not-ours')));
        const find = await findIn(listOnPaths(client, workspace, paths, within));
        return paths.map((path) => {
            const found = find(path);
            if (found.kind === 'locked')
                return { path, kind: 'held', holder: found.lock, asked: 'by-name' };
            return { path, kind: found.kind === 'absent' ? 'absent' : 'not-ours' };
        });
    }
    async function lookAtMatched() {
        const paths = pathsOf(toRelease.filter(isMeant('matched')));
        if (paths.length === 0)
            return [];
        const find = await findIn(listTogether(client, workspace, paths, within));
        return paths.flatMap((path) => {
            const found = find(path);
            return found.kind === 'locked' ? [{ path, kind: 'held', holder: found.lock, asked: 'by-pattern' }] : [];
        });
    }
    return (await Promise.all([lookAtWanted(), lookAtMatched()])).flat();
}
/** Releases all of them, whatever becomes of each, and fails afterwards when one was lost or refused. */
async function unlock(parts, { workspace, force }, toRelease, service) {
    const { client, log } = parts;
    const within = ordinaryLimits(parts);
    const record = createRecorder(parts.ledger, log);
    const results = [];
    const now = () => new Date(client.serverNow()).toISOString();
    const recordReleasing = (path, { id, etag }) => record({ kind: 'releasing', service, workspace, path, id, etag, at: now() });
    const recordEnded = (path, { id, etag }, how) => record({ kind: 'ended', service, workspace, path, id, etag, how, at: now() });
    function failed(path, error, holder, advice = '') {
        if (!force && refusesThisLock(error))
            return { path, kind: 'refused', holder, requestId: error.requestId };
        return { path, kind: 'failed', why: `${error.message}${advice}` };
    }
    async function releaseOwn({ path, lock, doubtful }) {
        recordReleasing(path, lock);
        const release = await releaseOne(parts, { workspace, path, lock, doubtful, force }, within);
        switch (release.kind) {
            case 'failed':
                return failed(path, release.error, undefined);
            case 'left-alone':
                log.warn(`Nothing shows that the lock that is on ${path} now is the one that is meant, and it may be somebody else's: it is left alone.`);
                return { path, ...release };
            default:
                recordEnded(path, lock, release.kind);
                return { path, ...release };
        }
    }
    async function releaseNamed(path, found) {
        if (found.kind === 'failed')
            return failed(path, found.error, undefined);
        const lock = found.kind === 'locked' ? found.lock : undefined;
        if (found.kind !== 'absent')
            recordReleasing(path, lock ?? {});
        const release = await releaseFound(parts.client, { workspace, path, found, force }, within);
        switch (release.kind) {
            case 'released':
            case 'absent':
                recordEnded(path, lock ?? {}, release.kind);
                return { path, kind: release.kind };
            case 'lost':
                // What was found has gone, and the lock that is there now came later.
                recordEnded(path, lock ?? {}, 'absent');
                return { path, kind: 'held', holder: release.holder, asked: 'by-name' };
            case 'unclear':
                return { path, kind: 'unclear', why: release.error.message };
            case 'failed': {
                const advice = ' It was sent only once, because nothing tells the lock from a later one.';
                return failed(path, release.error, lock, release_found_isProven(found) ? '' : advice);
            }
        }
    }
    async function releaseAllNamed() {
        const paths = pathsOf(toRelease.filter(isMeant('path')));
        const find = await findIn(listOnPaths(client, workspace, paths, within));
        await (0,in_parallel/* inParallel */.H)(paths, async (path) => void results.push(await releaseNamed(path, find(path))));
    }
    // What the job holds comes first: a list in trouble must not take the time for it.
    await (0,in_parallel/* inParallel */.H)(toRelease.filter(isMeant('lock')), async (meant) => void results.push(await releaseOwn(meant)));
    const [, others] = await Promise.all([releaseAllNamed(), lookAtOthers(parts, workspace, toRelease, within)]);
    results.push(...others);
    results.sort((one, other) => (one.path < other.path ? -1 : 1));
    const serverNow = client.serverNow();
    const caution = cautionOf(results, serverNow);
    if (caution !== undefined)
        log.warn(caution);
    const outcome = unlockOutcome(results, workspace, serverNow);
    log.group(outcome.sentence, results.map((result) => `${result.path}: ${resultText(result, serverNow)}`));
    const leftAlone = othersText(results, serverNow);
    if (leftAlone !== undefined)
        log.line(leftAlone);
    return outcome;
}

// EXTERNAL MODULE: ./build/bundle/compiled/interface/parsed.js
var parsed = __webpack_require__(9296);
// EXTERNAL MODULE: ./build/bundle/compiled/client/json.js
var json = __webpack_require__(5395);
// EXTERNAL MODULE: ./build/bundle/compiled/interface/loopback.js
var loopback = __webpack_require__(672);
// EXTERNAL MODULE: ./build/bundle/compiled/action/changed-files/change.js
var change = __webpack_require__(2661);
;// CONCATENATED MODULE: ./build/bundle/compiled/action/changed-files/source.js





function readEvent(file) {
    if (file === '')
        return (0,parsed/* refused */.J)('The runner names no file with the event of the run (GITHUB_EVENT_PATH).');
    try {
        return (0,parsed/* accepted */.q)((0,external_node_fs_.readFileSync)(file, 'utf8'));
    }
    catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        return (0,parsed/* refused */.J)(`The file with the event of the run cannot be read: ${why}.`);
    }
}
function readChange({ event, eventFile }) {
    const text = readEvent(eventFile);
    if (!text.ok)
        return text;
    const payload = (0,json/* parseJson */.qF)(text.value, (each) => each);
    return payload.ok
        ? (0,change/* parseChange */.q)(event, payload.value)
        : (0,parsed/* refused */.J)(`The file with the event of the run cannot be used: ${payload.why}.`);
}
function parseRepository(text) {
    const [, owner, repo] = /^([\w.-]+)\/([\w.-]+)$/.exec(text) ?? [];
    return owner === undefined || repo === undefined
        ? (0,parsed/* refused */.J)('The runner does not name the repository as owner/name (GITHUB_REPOSITORY).')
        : (0,parsed/* accepted */.q)({ owner, repo });
}
function parseApiUrl(text, allowHttp) {
    const url = URL.parse(text === '' ? 'https://api.github.com' : text);
    if (url === null || !/^https?:$/.test(url.protocol)) {
        return (0,parsed/* refused */.J)("The runner does not name the address of GitHub's interface (GITHUB_API_URL).");
    }
    if (url.protocol === 'http:' && !allowHttp && !(0,loopback/* isLoopback */.U)(url.hostname)) {
        return (0,parsed/* refused */.J)(`The interface of GitHub is at ${url.origin}: plain http would show the token to everybody on the way. Set \`allow-http: true\` if the network is yours alone.`);
    }
    return (0,parsed/* accepted */.q)(`${url.origin}${url.pathname}`.replace(/(?<!\/)\/+$/, ''));
}
/** Finds out without a request of what the files are to be looked up. */
function findSource(place, { token, allowHttp }) {
    const change = readChange(place);
    if (!change.ok)
        return change;
    const repository = parseRepository(place.repository);
    if (!repository.ok)
        return repository;
    const apiUrl = parseApiUrl(place.apiUrl, allowHttp);
    if (!apiUrl.ok)
        return apiUrl;
    return (0,parsed/* accepted */.q)({ change: change.value, repository: repository.value, apiUrl: apiUrl.value, token });
}

// EXTERNAL MODULE: ./build/bundle/compiled/action/locks/handed-locks.js
var handed_locks = __webpack_require__(6518);
;// CONCATENATED MODULE: ./build/bundle/compiled/action/locks/meant-lock.js
const asHanded = ({ path, ...lock }) => ({ kind: 'lock', path, lock, doubtful: false });
/** With `force`, it does not matter whose lock is there. */
const asForced = ({ path }) => ({ kind: 'path', path });
/** What is meant by a path: the lock that this job has there, if its ledger knows of the path. */
function meantIn({ held, wanted, damaged }) {
    return ({ kind, path }) => {
        const lock = held.get(path);
        if (lock !== undefined) {
            const { grant, releaseBegun } = lock;
            return { kind: 'lock', path, lock: { ...grant.lock, grantedAt: grant.at }, doubtful: releaseBegun || damaged };
        }
        if (kind === 'matched')
            return { kind: 'matched', path };
        if (wanted.has(path))
            return { kind: 'not-ours', path };
        // What is missing may be about this path.
        return damaged ? { kind: 'lock', path, lock: {}, doubtful: true } : { kind: 'path', path };
    };
}

// EXTERNAL MODULE: external "node:path"
var external_node_path_ = __webpack_require__(6760);
// EXTERNAL MODULE: ./build/bundle/compiled/action/inputs/reader.js
var reader = __webpack_require__(5401);
;// CONCATENATED MODULE: ./build/bundle/compiled/action/paths/matching-files.js
// Not from node:fs/promises: Node loads that, and much with it, when `promises` is first used.


const isFile = (path) => external_node_fs_.promises.stat(path).then((entry) => entry.isFile(), () => false);
const inUrlOrder = (path) => (external_node_path_.sep === '\\' ? path.replaceAll('\\', '/') : path);
/** A link to a file stands for a file: in the repository it is one. */
const standsForFile = async (entry) => entry.isFile() || (entry.isSymbolicLink() && (await isFile((0,external_node_path_.join)(entry.parentPath, entry.name))));
/** The files of the checkout that a pattern matches, from the checkout on, in the order of their names. */
async function matchingFiles(pattern, checkout) {
    const found = new Set();
    // Some systems store names composed (é), some decomposed (e and an accent), and a pattern is compared with what is stored.
    for (const spelling of new Set([pattern, pattern.normalize('NFC'), pattern.normalize('NFD')])) {
        for await (const entry of external_node_fs_.promises.glob(spelling, { cwd: checkout, withFileTypes: true })) {
            if (await standsForFile(entry))
                found.add(inUrlOrder((0,external_node_path_.relative)(checkout, (0,external_node_path_.join)(entry.parentPath, entry.name))));
        }
    }
    return [...found].sort();
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/paths/pattern-cost.js
/** As long as the longest path. */
const maxLength = 1_024;
/**
 * Within a name, each `*` tries every place in it for all those behind it. On a name of 255 letters, three that do not
 * fit take some 40 ms, four 2 s, and five more than a minute.
 */
const maxStarsInSegment = 3;
/** Each alternative is a pattern of its own. */
const maxAlternatives = 256;
const innermostBraces = /\{([^{}]*)\}/;
function rangeSize(text) {
    const [, from, to] = /^(-?\d{1,15})\.\.(-?\d{1,15})(?:\.\.-?\d{1,15})?$/.exec(text) ?? [];
    return from === undefined || to === undefined ? undefined : Math.abs(Number(to) - Number(from)) + 1;
}
/** At least as many as the braces of a pattern stand for; it stops to count where there are too many. */
function alternatives(pattern) {
    let rest = pattern;
    let product = 1;
    for (let found = innermostBraces.exec(rest); found !== null; found = innermostBraces.exec(rest)) {
        const [braces, inner = ''] = found;
        product *= rangeSize(inner) ?? inner.split(',').length;
        if (product > maxAlternatives)
            return product;
        rest = rest.slice(0, found.index) + rest.slice(found.index + braces.length);
    }
    return product;
}
const starsIn = (segment) => (segment === '**' ? 0 : segment.split('*').length - 1);
/** A group that may be repeated, of parts that may be: `+(a|aa)` fits a name in more ways than can be tried. */
const repeatedGroup = /[*+]\([^)]*[|*+?(]/;
/** Why a pattern could take longer than anybody waits on an unlucky name; undefined for one that is quick on all. */
function whyNotQuick(pattern) {
    if (pattern.length > maxLength)
        return `A pattern has at most ${maxLength} characters.`;
    if (alternatives(pattern) > maxAlternatives) {
        return `The braces of a pattern stand for at most ${maxAlternatives} alternatives. Write it as several lines.`;
    }
    if (repeatedGroup.test(pattern)) {
        return 'A group that is repeated, *(…) or +(…), must not have alternatives or wildcards in it: to match it could take for ever.';
    }
    if (pattern.split('/').some((segment) => starsIn(segment) > maxStarsInSegment)) {
        return `A pattern has at most ${maxStarsInSegment} asterisks between two slashes: more could take minutes on one name.`;
    }
    return undefined;
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/paths/resolve-paths.js






/** By its name as systems store it: composed (é), or decomposed (e and an accent). */
const isInCheckout = async (path, checkout) => (await isFile((0,external_node_path_.join)(checkout, path))) || (await isFile((0,external_node_path_.join)(checkout, path.normalize('NFD'))));
/** A pattern that leaves the checkout would lock paths that mean something else in the workspace. */
function parsePattern(text) {
    const slow = whyNotQuick(text.replaceAll('\\', '/'));
    if (slow !== undefined)
        return (0,parsed/* refused */.J)(slow);
    const segments = text.replaceAll('\\', '/').split('/');
    const last = segments.length - 1;
    if (segments[0] === '' || /^[a-z]:$/i.test(segments[0] ?? '')) {
        return (0,parsed/* refused */.J)('A pattern is relative to the checkout: it must not start with / or a drive, nor be empty.');
    }
    if (segments.includes('..'))
        return (0,parsed/* refused */.J)('A pattern must not leave the checkout with "..".');
    return (0,parsed/* accepted */.q)(segments.filter((segment, index) => index === last || (segment !== '.' && segment !== '')).join('/'));
}
/** The name of the pattern itself counts, too: it may have been locked with `glob: false`. */
function createMatcher(pattern) {
    const composed = pattern.normalize('NFC');
    return (path) => path === composed || external_node_path_.posix.matchesGlob(path, composed);
}
async function expand(pattern, { checkout, lockedPaths }) {
    const paths = new Set(lockedPaths.filter(createMatcher(pattern)));
    const files = await matchingFiles(pattern, checkout);
    if (files.length === 0 && paths.size === 0) {
        return (0,parsed/* refused */.J)(`No file of the checkout in ${checkout} matches it. Check it out first, or set \`glob: false\` if this is the name of a file.`);
    }
    for (const file of files) {
        const path = (0,lock_path/* parseLockPath */.Ix)(file);
        if (!path.ok)
            return (0,parsed/* refused */.J)(`It matches the file ${JSON.stringify(file)}, which cannot be locked. ${path.why}`);
        paths.add(path.value);
    }
    return (0,parsed/* accepted */.q)([...paths]);
}
/**
 * The paths that the lines of the input mean, each once, in the order of the lines: a path is itself, a pattern is
 * every file that it matches, and one that starts with `!` takes away from what the lines before it have named.
 */
async function resolvePaths(lines, { checkout, lockedPaths = [] }) {
    const problems = [];
    const chosen = new Map();
    function takeAway(pattern) {
        const matches = createMatcher(pattern);
        for (const path of chosen.keys())
            if (matches(path))
                chosen.delete(path);
    }
    async function choosePattern(text) {
        const name = (0,lock_path/* canonicalLockPath */.zV)(text);
        if (name.ok && (await isInCheckout(name.value, checkout))) {
            chosen.set(name.value, 'named');
            return;
        }
        const excluding = text.startsWith('!');
        const pattern = parsePattern(excluding ? text.slice(1) : text);
        if (pattern.ok && excluding)
            return takeAway(pattern.value);
        const matched = pattern.ok ? await expand(pattern.value, { checkout, lockedPaths }) : pattern;
        if (!matched.ok)
            problems.push((0,reader/* lineProblem */.OR)('path', text, matched.why));
        else
            for (const path of matched.value)
                chosen.set(path, chosen.get(path) ?? 'matched');
    }
    for (const line of lines) {
        if (line.kind === 'path')
            chosen.set(line.path, 'named');
        else
            await choosePattern(line.text);
    }
    if (problems.length === 0 && lines.length > 0 && chosen.size === 0) {
        problems.push('Input `path` names no path: the lines with "!" take away all that the other lines name.');
    }
    return problems.length > 0
        ? { ok: false, problems }
        : { ok: true, paths: [...chosen].map(([path, kind]) => ({ kind, path })) };
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/prepare.js







async function withPaths(lines, { checkout }, make) {
    const resolved = await resolvePaths(lines, { checkout });
    return resolved.ok ? { ok: true, prepared: make(resolved.paths.map(({ path }) => path)) } : resolved;
}
function readText(file) {
    try {
        return (0,parsed/* accepted */.q)((0,external_node_fs_.readFileSync)(file, 'utf8'));
    }
    catch (error) {
        return (0,parsed/* refused */.J)(`The file cannot be read: ${error instanceof Error ? error.message : String(error)}.`);
    }
}
function locksIn(file) {
    const text = readText(file);
    return text.ok ? (0,handed_locks/* readHandedLocks */.r)(text.value) : text;
}
async function prepareUnlock(task, place) {
    const { target, workspace } = task;
    const ready = (toRelease) => ({ operation: 'unlock', task, toRelease });
    switch (target.kind) {
        case 'paths': {
            const jobLocks = readJobLocks(place.ledger, place.service, workspace);
            const lockedPaths = [...jobLocks.held.keys()];
            const resolved = await resolvePaths(target.paths, { checkout: place.checkout, lockedPaths });
            if (!resolved.ok)
                return resolved;
            return { ok: true, prepared: ready(resolved.paths.map(task.force ? asForced : meantIn(jobLocks))) };
        }
        case 'locks':
            return { ok: true, prepared: ready(target.locks.map(asHanded)) };
        case 'locks-file': {
            const locks = locksIn(target.file);
            if (locks.ok)
                return { ok: true, prepared: ready(locks.value.map(asHanded)) };
            return { ok: false, problems: [`Input \`locks-file\` is ${JSON.stringify(target.file)}. ${locks.why}`] };
        }
    }
}
async function prepareListLocks(task, place) {
    const { scope } = task;
    const ready = (extent) => ({ operation: 'list-locks', task, extent });
    switch (scope.kind) {
        case 'paths':
            return withPaths(scope.paths, place, (paths) => ready(paths.length === 0 ? { kind: 'workspace' } : { kind: 'paths', paths }));
        case 'changed-files': {
            const source = findSource(place.github, { token: scope.githubToken, allowHttp: scope.allowHttp });
            if (source.ok)
                return { ok: true, prepared: ready({ kind: 'changed-files', source: source.value }) };
            return { ok: false, problems: [`Input \`changed-files\` is "true". ${source.why}`] };
        }
    }
}
/** What can be wrong with a step is found out here, before its first request. */
async function prepare(task, place) {
    switch (task.operation) {
        case 'lock':
            return withPaths(task.paths, place, (paths) => ({ operation: 'lock', task, paths }));
        case 'unlock':
            return prepareUnlock(task, place);
        case 'list-locks':
            return prepareListLocks(task, place);
        default:
            return { ok: true, prepared: task };
    }
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/run.js











function operate(parts, prepared, service) {
    switch (prepared.operation) {
        case 'sync':
            return sync(parts, prepared);
        case 'lock':
            return lock(parts, prepared.task, prepared.paths, service);
        case 'unlock':
            return unlock(parts, prepared.task, prepared.toRelease, service);
        case 'list-locks':
            return listLocks(parts, prepared.task, prepared.extent);
        case 'register-hook':
            return registerHook(parts, prepared);
        case 'list-workspaces':
            return listWorkspaces(parts);
        case 'list-branches':
            return listBranches(parts, prepared);
    }
}
/** Looks up what can be looked up, and then does what the step is there for. */
async function run({ inputs, place, reporter, step, announce, keep, conceal, signal, }) {
    const { connection, task } = inputs;
    const service = connection.baseUrl;
    const ledger = (0,ledger_ledger/* openLedger */.au)(place.ledger, conceal);
    reporter.log.debug(`Service ${service}, checkout ${place.checkout}, ledger ${place.ledger}.`);
    const preparation = await prepare(task, { ...place, service, ledger });
    if (!preparation.ok)
        return { kind: 'refused', problems: preparation.problems };
    const client = (0,connect/* connect */.N)(connection, place.origin, reporter.log);
    try {
        const parts = {
            client,
            ledger,
            get step() {
                return step();
            },
            announce,
            keep,
            conceal,
            origin: place.origin,
            stepName: place.stepName,
            sleep: client_client/* sleep */.yy,
            signal,
            clock: client_client/* steadyClock */.LW,
            random: Math.random,
            log: reporter.log,
            publish: reporter.publish,
            retries: connection.retries,
            requestTimeoutMs: (0,duration/* milliseconds */.Rz)(connection.requestTimeout),
            get locksFile() {
                return place.locksFile(step());
            },
        };
        return { kind: 'done', outcome: await operate(parts, preparation.prepared, service) };
    }
    finally {
        client.dispose();
    }
}


/***/ }),

/***/ 4596:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   r: () => (/* binding */ version)
/* harmony export */ });
/** Sent as User-Agent. A test holds it to package.json. */
const version = '0.1.0';


/***/ }),

/***/ 3203:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   D7: () => (/* binding */ objectIn),
/* harmony export */   G4: () => (/* binding */ maxBodyBytes),
/* harmony export */   JN: () => (/* binding */ readAnswer),
/* harmony export */   hO: () => (/* binding */ parseLinks),
/* harmony export */   oJ: () => (/* binding */ isSuccess),
/* harmony export */   rR: () => (/* binding */ headerOf)
/* harmony export */ });
/* harmony import */ var _json_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(5395);
/* harmony import */ var _service_text_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(9960);


const maxBodyBytes = 10 * 1_024 * 1_024;
const maxExcerptLength = 200;
/** Throws when the answer was cut off on its way. */
function readAnswer(received, texts) {
    const { status, headers, endIsUnsure } = received;
    const body = readBody(received, headers, texts);
    const claimsJson = /\bjson\b/i.test(headers['content-type'] ?? '');
    if (endIsUnsure && claimsJson && body.kind === 'other')
        throw new Error('the answer was cut in its middle');
    return { status, headers, body };
}
/** JSON is known by itself: many servers name it `text/plain` or not at all. */
function readBody({ bytes, tooLarge }, headers, texts) {
    const coding = headers['content-encoding']?.trim().toLowerCase() ?? '';
    if (coding !== '' && coding !== 'identity' && bytes.length > 0) {
        const why = `it is compressed (${texts.line(coding, 40)}), which was not asked for`;
        return { kind: 'other', why, excerpt: '', isHtml: false };
    }
    const text = new TextDecoder().decode(bytes);
    if (text.trim() === '')
        return { kind: 'empty' };
    const excerpt = texts.excerpt(text, maxExcerptLength);
    if (tooLarge)
        return { kind: 'too-large', excerpt };
    const parsed = (0,_json_js__WEBPACK_IMPORTED_MODULE_1__/* .parseJson */ .qF)(text, texts.data);
    if (parsed.ok)
        return { kind: 'json', value: parsed.value, byteLength: bytes.length };
    const type = texts.line(headers['content-type'] ?? '', 80);
    const why = `${parsed.why}${type === '' ? '' : ` (its type is said to be ${type})`}`;
    return { kind: 'other', why, excerpt, isHtml: (0,_service_text_js__WEBPACK_IMPORTED_MODULE_0__/* .looksLikeHtml */ .te)(text) };
}
const isSuccess = ({ status }) => status >= 200 && status < 300;
/** What an object in the body says; nothing where there is none. */
const objectIn = ({ body }) => (body.kind === 'json' ? (0,_json_js__WEBPACK_IMPORTED_MODULE_1__/* .asObject */ .eB)(body.value) : {});
/** A header of which one value is meant; of several the first. */
function headerOf({ headers }, name) {
    const value = headers[name];
    const [first] = Array.isArray(value) ? value : [value];
    return first?.trim() === '' ? undefined : first?.trim();
}
const relation = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i;
/** The targets of a Link header (RFC 8288) by their relations; of several with the same relation the first. */
function parseLinks(header) {
    const targets = new Map();
    // A target, and its parameters: texts in quotes among them can have commas and semicolons.
    for (const [, target = '', parameters = ''] of (header ?? '').matchAll(/<([^<>]*)>((?:[^,"<]|"[^"]*")*)/g)) {
        const [, quoted, plain] = relation.exec(parameters) ?? [];
        for (const name of (quoted ?? plain ?? '').toLowerCase().split(/\s+/)) {
            if (name !== '' && !targets.has(name))
                targets.set(name, target);
        }
    }
    return targets;
}


/***/ }),

/***/ 719:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  j: () => (/* binding */ createCall),
  l: () => (/* binding */ expectSuccess)
});

// EXTERNAL MODULE: ./build/bundle/compiled/interface/timers.js
var timers = __webpack_require__(671);
// EXTERNAL MODULE: ./build/bundle/compiled/client/answer.js
var client_answer = __webpack_require__(3203);
// EXTERNAL MODULE: ./build/bundle/compiled/client/connection.js
var connection = __webpack_require__(2073);
;// CONCATENATED MODULE: ./build/bundle/compiled/client/rate-limit.js
/** What is longer says nothing that pacing could use. */
const maxFieldLength = 1_000;
const numberIn = (text) => {
    const digits = /^\s*(\d{1,15})\s*(?:[.,;]|$)/.exec(text ?? '')?.[1];
    return digits === undefined ? undefined : Number(digits);
};
function textOf(headers, name) {
    const value = headers[name];
    return (Array.isArray(value) ? value.join(',') : (value ?? '')).slice(0, maxFieldLength);
}
/** A list of RFC 9651 as far as rate limits need it: `"name";key=1;key=2, …`. Quoted names may hold separators. */
function membersOf(field) {
    const members = field.match(/(?:"[^"]*"|[^",])+/g) ?? [];
    return members.map((member) => {
        const [name = '', ...parameters] = member.match(/(?:"[^"]*"|[^";])+/g) ?? [];
        const pairs = parameters.flatMap((parameter) => {
            const [key = '', value] = parameter.split('=', 2);
            const number = numberIn(value);
            return number === undefined ? [] : [[key.trim().toLowerCase(), number]];
        });
        return { name: name.trim(), parameters: new Map(pairs) };
    });
}
/** Where there are several, the one that will be met first. */
const strictest = (all) => all.reduce((least, one) => {
    if (least === undefined || one.remaining < least.remaining)
        return one;
    const isLonger = one.remaining === least.remaining && (one.resetMs ?? 0) > (least.resetMs ?? 0);
    return isLonger ? one : least;
}, undefined);
/** `RateLimit` and `RateLimit-Policy` of draft-ietf-httpapi-ratelimit-headers, version 8 and later. */
function byField(headers) {
    const policies = membersOf(textOf(headers, 'ratelimit-policy'));
    return strictest(membersOf(textOf(headers, 'ratelimit')).flatMap(({ name, parameters }) => {
        const remaining = parameters.get('r');
        if (remaining === undefined)
            return [];
        const policy = policies.find((each) => each.name === name)?.parameters;
        const reset = parameters.get('t');
        return [statusOf(remaining, reset === undefined ? undefined : reset * 1_000, policy?.get('q'), policy?.get('w'))];
    }));
}
function statusOf(remaining, resetMs, quota, windowSeconds) {
    const policy = quota && windowSeconds ? { quota, windowMs: windowSeconds * 1_000 } : undefined;
    return { remaining, resetMs, policy };
}
/** A number so large is no time to wait but a moment, in seconds since 1970. */
const firstMoment = 1e9;
/** What was there before the draft, and in its first versions: a header for each number. */
function byHeaders(headers, serverNow) {
    for (const prefix of ['ratelimit-', 'x-ratelimit-']) {
        const remaining = numberIn(textOf(headers, `${prefix}remaining`));
        if (remaining === undefined)
            continue;
        const reset = numberIn(textOf(headers, `${prefix}reset`));
        const resetMs = reset === undefined ? undefined : reset * 1_000 - (reset >= firstMoment ? serverNow : 0);
        return statusOf(remaining, resetMs && Math.max(0, resetMs), undefined, undefined);
    }
    return undefined;
}
/** What cannot be read says nothing. */
const rateLimitIn = (headers, serverNow) => byField(headers) ?? byHeaders(headers, serverNow);

// EXTERNAL MODULE: ./build/bundle/compiled/client/refusal.js + 1 modules
var refusal = __webpack_require__(3004);
;// CONCATENATED MODULE: ./build/bundle/compiled/interface/problem.js
/** RFC 9457. `type` is the prefix and one of these names, so that a program can tell problems of one status apart. */
const problemTypePrefix = 'urn:workspace-automation:problem:';
const problems = {
    'malformed-request': { status: 400, title: 'The request cannot be read' },
    unauthorized: { status: 401, title: 'A valid API token is needed' },
    'insufficient-scope': { status: 403, title: 'The token lacks a scope' },
    'lock-of-another-token': { status: 403, title: 'The lock belongs to another token' },
    'cross-site': { status: 403, title: 'The form came from somewhere else' },
    'not-found': { status: 404, title: 'There is nothing here' },
    'method-not-allowed': { status: 405, title: 'This address does not know the method' },
    'request-timeout': { status: 408, title: 'The request took too long to arrive' },
    locked: { status: 409, title: 'The path is locked' },
    'request-in-progress': { status: 409, title: 'The same request is still running' },
    'lock-changed': { status: 412, title: 'This is not the lock that is there' },
    'body-too-large': { status: 413, title: 'The request body is too large' },
    'unsupported-media-type': { status: 415, title: 'The request body is not JSON' },
    'invalid-request': { status: 422, title: 'The request is not valid' },
    'idempotency-key-reused': { status: 422, title: 'The idempotency key belongs to another request' },
    'quota-exceeded': { status: 422, title: 'There is as much of this as there may be' },
    'rate-limited': { status: 429, title: 'Too many requests' },
    'headers-too-large': { status: 431, title: 'The request headers are too large' },
    'internal-error': { status: 500, title: 'The service made a mistake' },
    unavailable: { status: 503, title: 'The service cannot do this now' },
};
const problemMediaType = 'application/problem+json';

// EXTERNAL MODULE: ./build/bundle/compiled/client/json.js
var json = __webpack_require__(5395);
// EXTERNAL MODULE: ./build/bundle/compiled/client/known-lock.js
var known_lock = __webpack_require__(1192);
;// CONCATENATED MODULE: ./build/bundle/compiled/client/retry.js





const isTransient = (status) => status === 408 || status === 425 || status === 429 || (status >= 500 && status < 600);
function reasonOf(status, stillRunning, retryAfterMs = 0) {
    if (stillRunning)
        return 'still-running';
    if (status === 429)
        return 'limited';
    return status === 503 && retryAfterMs > 0 ? 'unavailable' : 'failed';
}
function judgeAnswer(answer, context, keyMayHaveArrived) {
    const { status } = answer;
    const stillRunning = isStillRunning(answer, keyMayHaveArrived);
    if (!stillRunning && !isTransient(status))
        return { kind: 'answered', answer };
    const failure = (0,refusal/* refusalOf */.Of)(answer, context);
    const retryAfterMs = failure.kind === 'refused' ? failure.retryAfterMs : undefined;
    return {
        kind: 'failed',
        failure,
        // A proxy in front of the service also answers so when the service has done it all.
        mayBeDone: stillRunning || status >= 500,
        reason: reasonOf(status, stillRunning, retryAfterMs),
        retryAfterMs,
    };
}
/**
 * Whether a 409 says that an earlier request with the same Idempotency-Key is still at work. Where it names neither
 * that nor a lock, this is only believed of a key that can have arrived before: for a new one it would be a riddle.
 */
function isStillRunning(answer, keyMayHaveArrived) {
    if (answer.status !== 409)
        return false;
    const body = (0,client_answer/* objectIn */.D7)(answer);
    const type = (0,json/* nameIn */.ZC)(body['type']) ?? '';
    if (type.startsWith(problemTypePrefix))
        return type === `${problemTypePrefix}request-in-progress`;
    if ((0,known_lock/* holderIn */.Mz)(answer) !== undefined)
        return false;
    const words = `${type} ${(0,refusal/* rawWordsOf */.bM)(body) ?? ''}`;
    if (/idempoten/i.test(words) && /progress|running|outstanding|process|concurrent/i.test(words))
        return true;
    return keyMayHaveArrived && (0,client_answer/* headerOf */.rR)(answer, 'retry-after') !== undefined;
}
const firstBackoffMs = 500;
const maxBackoffMs = 10_000;
/** Those who were refused together were told the same time to wait, and must not come back at the same moment. */
const jitterMs = 250;
/** How long to wait after so many failed attempts, unless the server has said it. */
function backoff(failed, retryAfterMs, random) {
    const half = Math.min(maxBackoffMs, firstBackoffMs * 2 ** (failed - 1)) / 2;
    if (retryAfterMs === undefined)
        return half + random() * half;
    return Math.max(retryAfterMs + random() * jitterMs, half);
}

// EXTERNAL MODULE: ./build/bundle/compiled/client/service-error.js
var service_error = __webpack_require__(3925);
// EXTERNAL MODULE: ./build/bundle/compiled/client/service-text.js
var service_text = __webpack_require__(9960);
;// CONCATENATED MODULE: ./build/bundle/compiled/client/throttle.js

/** So few left are spread: as many as two clients have under way at once, or as come back in a second. */
const minReserve = 32;
const reserveMs = 1_000;
/** Of a small quota, a part. */
const maxReserveShare = 1 / 4;
const maxSpacingMs = 5_000;
/** Between requests after a refusal, where nothing says how many would be taken. */
const blindSpacingMs = 200;
/** Multiplicative decrease of the pace with each refusal, and a slow return: the share of others is not known. */
const maxCaution = 4;
const cautionPerRefusal = 2;
const cautionPerAnswer = 0.97;
function createThrottle(random) {
    let policy;
    /** What the last answer said, less what it may not have counted yet. What comes back meanwhile is not reckoned with. */
    let remaining;
    let pausedUntil = Number.NEGATIVE_INFINITY;
    let refusedUntil = Number.NEGATIVE_INFINITY;
    let refusedAt = Number.NEGATIVE_INFINITY;
    /** Of those that are refused together, which is one refusal, all draw the same. */
    let drawn = 0;
    let refusals = 0;
    let caution = 1;
    let lastSentAt = Number.NEGATIVE_INFINITY;
    let underWay = 0;
    /** Little remains: requests are spread so that what is used comes back meanwhile, the wider the less remains. */
    function spacingMs() {
        if (policy === undefined || remaining === undefined)
            return blindSpacingMs * (caution - 1);
        const { quota, windowMs } = policy;
        const perMs = quota / windowMs;
        const reserve = caution * Math.min(quota * maxReserveShare, Math.max(minReserve, perMs * reserveMs));
        if (remaining >= reserve)
            return 0;
        return Math.min(caution * maxSpacingMs, reserve / (perMs * Math.max(1, remaining)));
    }
    return {
        delayMs: (now) => Math.max(0, Math.max(refusedUntil, pausedUntil, lastSentAt + spacingMs()) - now),
        refusedUntil: () => refusedUntil,
        sent(now) {
            lastSentAt = now;
            underWay += 1;
            if (remaining !== undefined)
                remaining -= 1;
        },
        ended() {
            underWay -= 1;
        },
        served() {
            refusals = 0;
            caution = Math.max(1, caution * cautionPerAnswer);
        },
        observe(status, now) {
            policy = status.policy ?? policy;
            // The service may not have counted yet what is under way.
            remaining = status.remaining - underWay;
            const { resetMs = 0 } = status;
            pausedUntil = status.remaining === 0 && resetMs > 0 ? now + resetMs + random() * jitterMs : now;
        },
        refused(sentAt, retryAfterMs, now) {
            if (sentAt >= refusedAt) {
                refusedAt = now;
                refusals += 1;
                caution = Math.min(maxCaution, caution * cautionPerRefusal);
                drawn = random();
            }
            if (remaining !== undefined)
                remaining = Math.min(remaining, 0);
            refusedUntil = Math.max(refusedUntil, now + backoff(refusals, retryAfterMs, () => drawn));
            return refusedUntil - now;
        },
    };
}
/** Lets so many in at once, the others in the order in which they came; undefined when the signal was aborted first. */
function createSemaphore(size) {
    let free = size;
    const waiting = new Set();
    function release() {
        const [next] = waiting;
        if (next === undefined)
            free += 1;
        else
            next();
    }
    return async (signal) => {
        if (signal.aborted)
            return undefined;
        if (free > 0) {
            free -= 1;
            return release;
        }
        return new Promise((resolve) => {
            const giveUp = () => {
                waiting.delete(enter);
                resolve(undefined);
            };
            const enter = () => {
                waiting.delete(enter);
                signal.removeEventListener('abort', giveUp);
                resolve(release);
            };
            waiting.add(enter);
            signal.addEventListener('abort', giveUp, { once: true });
        });
    };
}
/** Admits requests: as many at once as there are connections, and as fast as the service takes them. */
function createAdmission({ maxConnections, throttle, clock, sleep, onThrottled }) {
    const enterConnection = createSemaphore(maxConnections);
    /** Only the first of those that are throttled waits for the time and for a connection; the others for their turn. */
    const enterQueue = createSemaphore(1);
    /** The pace is an estimate: a request that would run out of time for it asks the service instead. */
    function delayMs(deadline) {
        const now = clock();
        const delay = throttle.delayMs(now);
        return now + delay < deadline ? delay : Math.max(0, throttle.refusedUntil() - now);
    }
    async function admitThrottled({ deadline, signal }) {
        let limited = false;
        while (!signal.aborted) {
            const release = await enterConnection(signal);
            if (release === undefined)
                break;
            const delay = delayMs(deadline);
            if (delay === 0) {
                throttle.sent(clock());
                return { kind: 'admitted', release };
            }
            // What is not throttled may have the connection meanwhile.
            release();
            if (clock() + delay >= deadline)
                return { kind: 'too-late', delayMs: delay };
            limited = true;
            if (throttle.refusedUntil() <= clock())
                onThrottled(delay);
            await sleep(delay, signal);
        }
        return { kind: 'aborted', limited };
    }
    return async (request) => {
        const { throttled, signal } = request;
        const release = await (throttled ? enterQueue : enterConnection)(signal);
        if (release === undefined)
            return { kind: 'aborted', limited: throttled && throttle.delayMs(clock()) > 0 };
        return throttled ? admitThrottled(request).finally(release) : { kind: 'admitted', release };
    };
}

// EXTERNAL MODULE: ./build/bundle/compiled/client/time-limit.js
var time_limit = __webpack_require__(3450);
;// CONCATENATED MODULE: ./build/bundle/compiled/client/call.js










/** Throws what a call failed with, if it did. */
function expectSuccess(result) {
    if (result.kind === 'given-up')
        throw result.error;
    if (!(0,client_answer/* isSuccess */.oJ)(result.answer))
        throw result.refuse(result.answer);
    return result;
}
const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/;
/** RFC 9110 section 5.5. */
const unsendableHeader = (headers) => Object.keys(headers).find((name) => !fieldValue.test(headers[name] ?? ''));
/** Every request goes through here: it waits for the rate limit, is sent, and sent again until an answer counts. */
function createCall(options) {
    const { baseUrl, clock, serverClock, random, sleep } = options;
    const throttle = createThrottle(random);
    const admit = createAdmission({ ...options, throttle });
    // All spellings of a secret take a while to make, and most requests have none of their own.
    const defaultTexts = (0,service_text/* createServiceText */.T2)(options.secrets);
    /** The last answer that refused a request for the rate limit. */
    let limitedBy;
    /** What an answer says of the rate limit counts before the next request gets the connection. */
    function observe(answer, sentAt, texts, throttled) {
        serverClock.observe(answer.headers);
        options.onAnswer(answer, texts);
        const status = rateLimitIn(answer.headers, serverClock.now());
        if (status !== undefined)
            throttle.observe(status, clock());
        if (!throttled)
            return;
        if (answer.status === 429)
            throttle.refused(sentAt, (0,refusal/* retryAfterOf */.sT)(answer, serverClock.now()), clock());
        else
            throttle.served();
    }
    async function send(request, { deadline }, limit) {
        const { method, target, headers, body, secrets = [], answerDelayMs = 0 } = request;
        const sent = {
            method,
            target,
            headers: { ...options.headers, ...(body && { 'content-type': 'application/json' }), ...headers },
            body: body === undefined ? null : JSON.stringify(body),
        };
        const texts = secrets.length === 0 ? defaultTexts : (0,service_text/* createServiceText */.T2)([...options.secrets, ...secrets]);
        const timeoutMs = options.timeoutMs + answerDelayMs;
        const once = request.attempts === 'once';
        const retries = once ? 0 : options.retries;
        // To give back is never held up by what is still to be asked for.
        const throttled = request.throttled ?? method !== 'DELETE';
        let firstSentAt;
        let attempts = 0;
        let failures = 0;
        let countedFailures = 0;
        let mayBeDone = request.keySentBefore === true;
        let last;
        const fail = (failure) => new service_error/* ServiceError */._({ method, path: target.replace(/\?.*$/s, ''), attempts }, failure);
        const refusalContext = () => ({ baseUrl, texts, serverNow: serverClock.now() });
        const refuse = (answer) => fail((0,refusal/* refusalOf */.Of)(answer, refusalContext()));
        const context = () => ({ texts, sentAt: firstSentAt ?? clock(), mayBeDone, fail, refuse });
        const giveUp = (failure) => ({ kind: 'given-up', error: fail(failure), ...context() });
        const giveUpInterrupted = (limited = false) => giveUp(limit.signal.aborted && !limit.isOver()
            ? { kind: 'aborted' }
            : { kind: 'deadline', last, retryAfterMs: undefined, limited });
        /** Undefined when the whole call was interrupted first. */
        async function attempt() {
            const sentAt = clock();
            const attemptLimit = (0,time_limit/* startTimeLimit */.r)(timeoutMs, [limit.signal], options.startTimer);
            let answer;
            try {
                answer = await (0,timers/* unlessAborted */.W)(options.send(sent, attemptLimit.signal, texts), attemptLimit.signal);
            }
            catch (error) {
                if (!attemptLimit.isOver() && limit.signal.aborted)
                    return undefined;
                const failure = attemptLimit.isOver()
                    ? { kind: 'timeout', limitMs: timeoutMs }
                    : (0,connection/* connectionFailure */.Dx)(error, texts);
                const arrived = failure.kind === 'timeout' || failure.mayHaveArrived;
                const reason = failure.kind === 'connection' && failure.untrusted ? undefined : 'failed';
                return { kind: 'failed', failure, mayBeDone: arrived, reason, retryAfterMs: undefined };
            }
            finally {
                attemptLimit.stop();
                if (throttled)
                    throttle.ended();
            }
            observe(answer, sentAt, texts, throttled);
            return judgeAnswer(answer, refusalContext(), mayBeDone);
        }
        const unsendable = unsendableHeader(sent.headers);
        if (unsendable !== undefined) {
            return giveUp({ kind: 'unsendable', why: `the header ${unsendable} has characters that no header can have` });
        }
        for (;;) {
            if (limit.signal.aborted || clock() >= deadline)
                return giveUpInterrupted();
            const admission = await admit({ throttled, deadline, signal: limit.signal });
            if (admission.kind === 'too-late') {
                const retryAfterMs = limitedBy?.retryAfterMs === undefined ? undefined : admission.delayMs;
                return giveUp({ kind: 'deadline', last: limitedBy, retryAfterMs });
            }
            if (admission.kind === 'aborted') {
                if (admission.limited)
                    last ??= limitedBy;
                return giveUpInterrupted(admission.limited);
            }
            firstSentAt ??= clock();
            attempts += 1;
            const ended = await attempt().finally(admission.release);
            if (ended?.kind === 'answered')
                return { ...ended, ...context() };
            mayBeDone ||= ended?.mayBeDone ?? true;
            if (ended === undefined)
                return giveUpInterrupted();
            const { failure, reason, retryAfterMs } = ended;
            last = failure;
            failures += 1;
            if (reason === 'failed')
                countedFailures += 1;
            if (reason === undefined || countedFailures > retries || (once && mayBeDone))
                return giveUp(failure);
            // All that are refused for the rate limit wait for it together, where they are admitted.
            const waitsTogether = throttled && reason === 'limited';
            if (waitsTogether && failure.kind === 'refused')
                limitedBy = failure;
            const delayMs = waitsTogether ? throttle.refusedUntil() - clock() : backoff(failures, retryAfterMs, random);
            const timeLeft = deadline - clock();
            if (delayMs >= timeLeft) {
                const asked = retryAfterMs !== undefined && retryAfterMs >= timeLeft ? retryAfterMs : undefined;
                return giveUp({ kind: 'deadline', last, retryAfterMs: asked });
            }
            const { path, message } = fail(failure);
            options.onRetry({ method, path, attempts, delayMs, reason, why: message });
            if (!waitsTogether)
                await sleep(delayMs, limit.signal);
        }
    }
    return async (request, within) => {
        const outer = [options.closed, ...(within.signal ? [within.signal] : [])];
        const limit = (0,time_limit/* startTimeLimit */.r)(within.deadline - clock(), outer, options.startTimer);
        try {
            return await send(request, within, limit);
        }
        finally {
            limit.stop();
        }
    };
}


/***/ }),

/***/ 2683:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  _7: () => (/* reexport */ service_error/* ServiceError */._),
  UU: () => (/* binding */ createClient),
  yy: () => (/* reexport */ time_limit/* sleep */.y),
  LW: () => (/* reexport */ client_clock/* steadyClock */.LW)
});

// UNUSED EXPORTS: parseWorkspaceId

// EXTERNAL MODULE: ./build/bundle/compiled/interface/duration.js
var duration = __webpack_require__(4393);
// EXTERNAL MODULE: ./build/bundle/compiled/client/answer.js
var client_answer = __webpack_require__(3203);
// EXTERNAL MODULE: ./build/bundle/compiled/client/clock.js
var client_clock = __webpack_require__(5064);
// EXTERNAL MODULE: ./build/bundle/compiled/client/known-lock.js
var known_lock = __webpack_require__(1192);
// EXTERNAL MODULE: ./build/bundle/compiled/client/refusal.js + 1 modules
var refusal = __webpack_require__(3004);
;// CONCATENATED MODULE: ./build/bundle/compiled/client/acquire-lock.js





const createAcquireLock = ({ call, addresses, clock, serverNow }) => {
    function acquired({ answer, texts, sentAt }, { path, type, ttl }) {
        const lock = (0,known_lock/* readLock */.mF)((0,known_lock/* unwrapped */.DE)((0,client_answer/* objectIn */.D7)(answer)), path, texts);
        // The earliest moment at which it can have been acquired: when the request set out, by the clock of the server.
        const earliest = serverNow() - (clock() - sentAt);
        const acquiredAt = lock.acquired_at === undefined ? earliest : Date.parse(lock.acquired_at);
        return {
            kind: 'acquired',
            lock: {
                ...lock,
                // What was asked for is what it is called by; `raw` has what the service calls it.
                path,
                type: lock.type ?? type,
                etag: (0,known_lock/* etagOf */.Nk)(answer) ?? lock.etag,
                expires_at: lock.expires_at ?? (0,client_clock/* timestamp */.vE)(acquiredAt + (0,duration/* milliseconds */.Rz)(ttl)),
                expiry: lock.expires_at === undefined ? 'computed' : 'stated',
            },
            replayed: isReplayed(answer),
        };
    }
    function held({ answer, texts, mayBeDone, refuse }, path) {
        const holder = (0,known_lock/* holderIn */.Mz)(answer);
        return {
            kind: 'held',
            holder: holder && (0,known_lock/* readLock */.mF)(holder, path, texts),
            retryAfterMs: (0,refusal/* retryAfterOf */.sT)(answer, serverNow()),
            mayBeOurs: mayBeDone,
            error: refuse(answer),
        };
    }
    return async (request, within) => {
        const { workspace, path, type, ttl, idempotencyKey, keySentBefore = false } = request;
        const result = await call({
            method: 'POST',
            target: addresses.locks(workspace),
            headers: { 'idempotency-key': idempotencyKey },
            body: { path, type, ttl: (0,duration/* formatDuration */.a3)(ttl) },
            keySentBefore,
        }, within);
        const without = (error, mayBeDone = result.mayBeDone) => ({
            kind: mayBeDone ? 'unclear' : 'failed',
            error,
        });
        if (result.kind === 'given-up')
            return without(result.error);
        const { answer, texts } = result;
        if ((0,client_answer/* isSuccess */.oJ)(answer)) {
            const wrong = (0,refusal/* unusableThoughOptional */.h)(answer, texts);
            return wrong === undefined ? acquired(result, request) : without(result.fail(wrong), true);
        }
        if (answer.status === 409 || answer.status === 423)
            return held(result, path);
        // RFC 9110 section 15.4.4: a 303 follows what has been done.
        return without(result.refuse(answer), result.mayBeDone || answer.status === 303);
    };
};
/** No standard names the header: it is called one of these. */
const isReplayed = (answer) => ['idempotency-replayed', 'idempotent-replayed'].some((name) => (0,client_answer/* headerOf */.rR)(answer, name)?.toLowerCase() === 'true');

// EXTERNAL MODULE: ./build/bundle/compiled/interface/lock-path.js
var lock_path = __webpack_require__(5860);
;// CONCATENATED MODULE: ./build/bundle/compiled/client/addresses.js

function addressesBelow(baseUrl) {
    const base = baseUrl.pathname.replace(/(?<!\/)\/+$/, '');
    const below = (workspace, ...rest) => [base, 'workspaces', encodeURIComponent(workspace), ...rest].join('/');
    return {
        workspaces: `${base}/workspaces`,
        branches: (workspace) => below(workspace, 'branches'),
        sync: (workspace) => below(workspace, 'sync'),
        locks: (workspace) => below(workspace, 'locks'),
        lock: (workspace, path, slashes) => below(workspace, 'locks', slashes === 'raw' ? (0,lock_path/* asSegments */.ne)(path) : (0,lock_path/* asOneSegment */.IH)(path)),
        hooks: (workspace) => below(workspace, 'hooks'),
    };
}
/** An address that the service gave, as the target of a request to the same server. */
function follow(address, from, baseUrl) {
    const base = new URL(from, baseUrl);
    if (!URL.canParse(address, base.href))
        return { kind: 'not-an-address' };
    const { origin, protocol, host, pathname, search } = new URL(address, base);
    if (origin !== baseUrl.origin)
        return { kind: 'elsewhere', origin: `${protocol}//${host}` };
    return { kind: 'target', target: pathname + search };
}

// EXTERNAL MODULE: ./build/bundle/compiled/client/call.js + 4 modules
var client_call = __webpack_require__(719);
// EXTERNAL MODULE: ./build/bundle/compiled/client/connection.js
var client_connection = __webpack_require__(2073);
;// CONCATENATED MODULE: ./build/bundle/compiled/client/deprecation.js

const maxLength = 300;
/** RFC 9745 writes `@` and seconds since 1970; drafts of it wrote a date or `true`. */
function sinceOf(deprecation) {
    const seconds = /^@(\d{1,11})$/.exec(deprecation)?.[1];
    const ms = seconds === undefined ? Date.parse(deprecation) : Number(seconds) * 1_000;
    return Number.isNaN(ms) ? '' : ` since ${new Date(ms).toISOString().slice(0, 10)}`;
}
/** What the headers Deprecation (RFC 9745) and Sunset (RFC 8594) say, as a sentence. */
function deprecationIn(answer, texts) {
    const deprecation = (0,client_answer/* headerOf */.rR)(answer, 'deprecation');
    const sunset = (0,client_answer/* headerOf */.rR)(answer, 'sunset');
    if (deprecation === undefined && sunset === undefined)
        return undefined;
    const outdated = deprecation === undefined ? '' : ` is deprecated${sinceOf(deprecation)}`;
    const ending = sunset === undefined ? '' : ` ends on ${sunset}`;
    const links = (0,client_answer/* parseLinks */.hO)((0,client_answer/* headerOf */.rR)(answer, 'link'));
    const more = links.get('deprecation') ?? links.get('sunset');
    const what = [outdated, ending].filter((part) => part !== '').join(' and');
    return texts.line(`The service says that this interface${what}.${more === undefined ? '' : ` See ${more}`}`, maxLength);
}
/** Warns the first time. */
function warnOfDeprecation(warn) {
    let warned = false;
    return (answer, texts) => {
        const sentence = warned ? undefined : deprecationIn(answer, texts);
        if (sentence === undefined)
            return;
        warned = true;
        warn(sentence);
    };
}

// EXTERNAL MODULE: ./build/bundle/compiled/client/json.js
var json = __webpack_require__(5395);
;// CONCATENATED MODULE: ./build/bundle/compiled/client/pages.js





const maxPages = 1_000;
/** As JSON: read, it takes many times the room. A workspace of our service has at most a fifth as many locks. */
const maxListBytes = 64 * 1_024 * 1_024;
const maxEntries = 1_000_000;
/** An array, or an object that has it under the name of what is listed or one of the common names. */
function entriesOf(body, name) {
    if ((0,json/* isArray */.cy)(body))
        return body;
    if (!(0,json/* isObject */.Gv)(body))
        return undefined;
    const found = [name, 'items', 'data', 'results'].map((each) => body[each]).find((each) => (0,json/* isArray */.cy)(each));
    if ((0,json/* isArray */.cy)(found))
        return found;
    const inner = body['data'];
    return (0,json/* isObject */.Gv)(inner) ? entriesOf(inner, name) : undefined;
}
function readEntries({ answer, texts, fail }, name) {
    const wrong = (0,refusal/* unusable */._P)(answer, texts);
    if (wrong !== undefined)
        throw fail(wrong);
    const entries = answer.body.kind === 'json' ? entriesOf(answer.body.value, name) : undefined;
    if (entries !== undefined)
        return entries;
    const found = Object.keys((0,client_answer/* objectIn */.D7)(answer)).join(', ');
    const why = `there is no list in it, neither bare nor as ${name}, items, data or results`;
    throw fail((0,refusal/* notUnderstood */.hf)(answer, texts, why, texts.line(found === '' ? '' : `an object with ${found}`, 200)));
}
/** Reads a list page by page, and each of its entries. */
async function readPages({ call, baseUrl }, { target: firstTarget, plainTarget, name }, readEntry, within) {
    const items = [];
    const seen = new Set();
    let unread = 0;
    let bytes = 0;
    let before = [];
    const list = (why) => {
        const skipped = unread === 0 ? undefined : `${unread} of its entries could not be read`;
        const reasons = [why, skipped].filter((reason) => reason !== undefined);
        return {
            items,
            incomplete: reasons.length === 0 ? undefined : `The list of ${name} may not be whole: ${reasons.join('; ')}.`,
        };
    };
    let target = firstTarget;
    for (let page = 1;; page += 1) {
        seen.add(target);
        let result = await call({ method: 'GET', target }, within);
        const isRefused = result.kind === 'answered' && [400, 422].includes(result.answer.status);
        if (page === 1 && plainTarget !== undefined && isRefused) {
            target = plainTarget;
            seen.add(target);
            result = await call({ method: 'GET', target }, within);
        }
        const answered = (0,client_call/* expectSuccess */.l)(result);
        const { answer, texts } = answered;
        const entries = readEntries(answered, name);
        const next = nextPage(answer, target, baseUrl);
        const isLoop = next.kind === 'page' && seen.has(next.target);
        // A service that does not know cursors gives its first page again and again.
        if (isLoop && JSON.stringify(entries) === JSON.stringify(before)) {
            return list('the service gives the same page again');
        }
        before = entries;
        bytes += answer.body.kind === 'json' ? answer.body.byteLength : 0;
        // Of a page that is too much nothing is taken: what it would take is what the limit is about.
        if (bytes > maxListBytes)
            return list('its pages have more than 64 MB together');
        if (items.length + unread + entries.length > maxEntries)
            return list(`it has more than ${maxEntries} entries`);
        for (const entry of entries) {
            const item = readEntry(entry, texts);
            if (item === undefined)
                unread += 1;
            else
                items.push(item);
        }
        if (next.kind === 'none')
            return list(undefined);
        if (next.kind === 'elsewhere') {
            const why = `its next page is at ${next.origin}, which is another server, and the token must not go there`;
            throw answered.fail((0,refusal/* notUnderstood */.hf)(answer, texts, why));
        }
        if (isLoop)
            return list('the service names a page as the next that was there before');
        if (page === maxPages)
            return list(`it has more than ${maxPages} pages`);
        target = next.target;
    }
}
const looksLikeAddress = (text) => /^(https?:\/\/|[/?])/i.test(text);
/** `next` is an address to some and a cursor to others. */
function hintIn(body) {
    const cursor = (0,json/* firstName */.u$)(body, ['next_cursor', 'nextCursor']);
    if (cursor !== undefined)
        return { kind: 'cursor', text: cursor };
    const next = (0,json/* firstName */.u$)(body, ['next']) ?? (0,json/* firstName */.u$)((0,json/* asObject */.eB)(body['next']), ['href', 'url']);
    if (next === undefined)
        return undefined;
    return { kind: looksLikeAddress(next) ? 'address' : 'cursor', text: next };
}
function hintOf(answer) {
    const linked = (0,client_answer/* parseLinks */.hO)((0,client_answer/* headerOf */.rR)(answer, 'link')).get('next');
    if (linked !== undefined)
        return { kind: 'address', text: linked };
    const body = (0,client_answer/* objectIn */.D7)(answer);
    if (body['has_more'] === false || body['hasMore'] === false)
        return undefined;
    const places = [body, ...['pagination', 'paging', 'meta', 'links', '_links'].map((name) => (0,json/* asObject */.eB)(body[name]))];
    return places.map(hintIn).find((hint) => hint !== undefined);
}
function withCursor(target, cursor) {
    const [path = '', query = ''] = target.split(/\?(.*)/s);
    const parameters = new URLSearchParams(query);
    parameters.set('cursor', cursor);
    return `${path}?${parameters}`;
}
/** Where the list goes on that this answer is a page of, if it does; never on another server. */
function nextPage(answer, target, baseUrl) {
    const hint = hintOf(answer);
    if (hint === undefined)
        return { kind: 'none' };
    if (hint.kind === 'cursor')
        return { kind: 'page', target: withCursor(target, hint.text) };
    const followed = follow(hint.text, target, baseUrl);
    switch (followed.kind) {
        case 'target':
            return { kind: 'page', target: followed.target };
        case 'elsewhere':
            return followed;
        case 'not-an-address':
            return { kind: 'page', target: withCursor(target, hint.text) };
    }
}

// EXTERNAL MODULE: ./build/bundle/compiled/client/service-text.js
var service_text = __webpack_require__(9960);
;// CONCATENATED MODULE: ./build/bundle/compiled/client/lists.js




/** Reads entries that are bare names, or objects that have their name under one of these. */
const readNamed = (names) => (entry) => {
    const name = typeof entry === 'string' ? entry : (0,json/* firstName */.u$)((0,json/* asObject */.eB)(entry), names);
    if (name === undefined || name === '')
        return undefined;
    return { name: (0,service_text/* plainName */.MH)(name), raw: (0,json/* asObject */.eB)(entry) };
};
const readWorkspace = readNamed(['id', 'workspace_id', 'workspaceId', 'name', 'slug']);
const readBranch = readNamed(['name', 'branch', 'ref', 'id']);
const pageSize = 1_000;
const createLists = (context) => ({
    /** Throws a ServiceError, as all operations do but those on single locks. */
    listWorkspaces: (within) => readPages(context, { target: context.addresses.workspaces, name: 'workspaces' }, readWorkspace, within),
    listBranches: ({ workspace }, within) => readPages(context, { target: context.addresses.branches(workspace), name: 'branches' }, readBranch, within),
    async listLocks({ workspace, filter = {} }, within) {
        const { path, prefix } = filter;
        const plainTarget = context.addresses.locks(workspace);
        const query = new URLSearchParams({
            ...(path !== undefined && { path }),
            ...(prefix !== undefined && { prefix }),
            limit: String(pageSize),
        });
        const listing = { target: `${plainTarget}?${query}`, plainTarget, name: 'locks' };
        const { items, incomplete } = await readPages(context, listing, known_lock/* readListedLock */.Tq, within);
        // A service that knows no such parameters has listed all of them.
        const isWanted = (lock) => (path === undefined || lock.path === path) &&
            (prefix === undefined || lock.path.startsWith(prefix.normalize('NFC')));
        return { items: items.filter(isWanted), incomplete };
    },
});

;// CONCATENATED MODULE: ./build/bundle/compiled/client/register-hook.js





const textsIn = (object) => Object.values(object).filter((value) => typeof value === 'string');
/** What no error may repeat: the secret, and the values of headers, which are there for credentials. */
const secretsIn = (body) => [
    ...textsIn({ secret: body['secret'] ?? null }),
    ...textsIn((0,json/* asObject */.eB)(body['headers'])),
];
const createRegisterHook = ({ call, addresses }) => async ({ workspace, url, events, secret, options = {} }, within) => {
    const body = { ...options, url, ...(events && { events }), ...(secret !== undefined && { secret }) };
    const result = await call({
        method: 'POST',
        target: addresses.hooks(workspace),
        headers: { 'idempotency-key': crypto.randomUUID() },
        body,
        secrets: secretsIn(body),
    }, within);
    const { answer, texts, fail } = (0,client_call/* expectSuccess */.l)(result);
    const wrong = (0,refusal/* unusableThoughOptional */.h)(answer, texts);
    if (wrong !== undefined)
        throw fail(wrong);
    const said = (0,client_answer/* objectIn */.D7)(answer);
    const hook = [said['hook'], said['webhook'], said['data']].find(json/* isObject */.Gv) ?? said;
    const id = (0,json/* firstName */.u$)(hook, ['id', 'hook_id', 'hookId', 'webhook_id']);
    const madeSecret = body.secret === undefined ? (0,json/* nameIn */.ZC)(hook['secret']) : undefined;
    return {
        hook_id: id === undefined ? undefined : (0,service_text/* plainName */.MH)(id),
        replaced: answer.status === 200,
        madeSecret,
    };
};

;// CONCATENATED MODULE: ./build/bundle/compiled/client/release-lock.js



const conditionOf = (proof) => proof?.etag ?? (proof?.id === undefined ? undefined : `"${proof.id}"`);
function createReleaseLock({ call, addresses, clock, serverNow }) {
    /** How slashes are known to arrive, once one way has been refused and the other was not. */
    let slashes = 'encoded';
    /** Once more with raw slashes, when the encoded ones were refused by a proxy. */
    async function send(request, condition, within) {
        const { workspace, path, force = false, attempts } = request;
        const sendWith = (how) => call({
            method: 'DELETE',
            target: addresses.lock(workspace, path, how) + (force ? '?force=true' : ''),
            headers: { ...(condition !== undefined && { 'if-match': condition }) },
            attempts,
        }, within);
        const first = await sendWith(slashes);
        if (slashes === 'raw' || !path.includes('/'))
            return first;
        if (first.kind === 'given-up' || !mayBeOfAProxy(first.answer))
            return first;
        const second = await sendWith('raw');
        if (second.kind === 'answered' && ((0,client_answer/* isSuccess */.oJ)(second.answer) || (0,refusal/* isOwnError */.fe)(second.answer)))
            slashes = 'raw';
        return { ...second, mayBeDone: second.mayBeDone || first.mayBeDone };
    }
    /** Another lock is there. Where it was taken after our request set out, that request has released ours. */
    function lost(result, path) {
        const holder = holderOf(result, path);
        const acquiredAt = Date.parse(holder?.acquired_at ?? '');
        const isLater = acquiredAt >= serverNow() - (clock() - result.sentAt);
        if (result.mayBeDone && isLater)
            return { kind: 'released' };
        return { kind: 'lost', holder, error: result.refuse(result.answer) };
    }
    function judge(result, path) {
        if (result.kind === 'given-up')
            return { kind: 'failed', error: result.error };
        const { answer, texts, mayBeDone } = result;
        if ((0,client_answer/* isSuccess */.oJ)(answer)) {
            const wrong = (0,refusal/* unusableThoughOptional */.h)(answer, texts);
            return wrong === undefined ? { kind: 'released' } : { kind: 'failed', error: result.fail(wrong) };
        }
        switch (answer.status) {
            case 404:
            case 410:
                // An earlier attempt, of which no answer was seen, has done it.
                return { kind: mayBeDone ? 'released' : 'absent' };
            case 412:
                return lost(result, path);
            default:
                return { kind: 'failed', error: result.refuse(answer) };
        }
    }
    return async (request, within) => {
        const { proof, path } = request;
        const condition = conditionOf(proof);
        const result = await send(request, condition, within);
        if (result.kind === 'given-up' || result.answer.status !== 412 || proof?.id === undefined) {
            return judge(result, path);
        }
        // A 412 about the lock with the very id that is meant: the service knows it by another tag than was sent.
        const holder = holderOf(result, path);
        if (holder?.id !== proof.id)
            return judge(result, path);
        const etag = (0,known_lock/* etagOf */.Nk)(result.answer) ?? holder.etag;
        if (etag === undefined || etag === condition)
            return { kind: 'failed', error: result.refuse(result.answer) };
        return judge(await send(request, etag, within), path);
    };
}
function holderOf({ answer, texts }, path) {
    const holder = (0,known_lock/* holderIn */.Mz)(answer);
    return holder && (0,known_lock/* readLock */.mF)(holder, path, texts);
}
const mayBeOfAProxy = (answer) => [400, 404, 405, 414].includes(answer.status) && !(0,refusal/* isOwnError */.fe)(answer);

;// CONCATENATED MODULE: ./build/bundle/compiled/client/sync.js






const good = new Set(['succeeded', 'success', 'successful', 'synced', 'up_to_date', 'passed', 'ok']);
/** It has ended; how, something else may say. */
const over = new Set(['completed', 'complete', 'done', 'finished', 'ended', 'closed']);
const bad = new Set([
    'failed',
    'failure',
    'fail',
    'error',
    'errored',
    'cancelled',
    'canceled',
    'aborted',
    'rejected',
    'timed_out',
    'timeout',
    'timedout',
    'expired',
    'completed_with_errors',
]);
const normal = (word) => word
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_');
const saysFailed = (body) => {
    const conclusion = (0,json/* firstName */.u$)(body, ['conclusion', 'result', 'outcome']);
    if (conclusion !== undefined && bad.has(normal(conclusion)))
        return true;
    const { error, success } = body;
    return success === false || (typeof error === 'string' && error !== '') || Object.keys((0,json/* asObject */.eB)(error)).length > 0;
};
function syncStateOf(status, body) {
    const word = normal(status);
    if (bad.has(word))
        return 'failed';
    if (good.has(word))
        return 'succeeded';
    if (!over.has(word))
        return 'going-on';
    return saysFailed(body) ? 'failed' : 'succeeded';
}
const maxStatusLength = 64;
const maxErrorLength = 500;
const countIn = (body, names) => {
    const count = (0,json/* firstMember */.PE)(body, names);
    return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
};
function errorIn(body, texts) {
    const words = (0,refusal/* rawWordsOf */.bM)({ error: body['error'] ?? null }) ?? (0,json/* firstName */.u$)(body, ['error_message', 'failure_reason']);
    return words === undefined ? undefined : (0,json/* nameIn */.ZC)(texts.line(words, maxErrorLength));
}
function readSync(body, texts) {
    const name = (names) => {
        const text = (0,json/* firstName */.u$)(body, names);
        return text === undefined ? undefined : (0,service_text/* plainName */.MH)(text);
    };
    const status = texts.line((0,json/* firstName */.u$)(body, ['status', 'state']) ?? 'unknown', maxStatusLength);
    return {
        sync_id: name(['sync_id', 'syncId', 'id']),
        status,
        state: syncStateOf(status, body),
        branch: name(['branch']),
        estimated_objects: countIn(body, ['estimated_objects', 'estimatedObjects']),
        received_objects: countIn(body, ['received_objects', 'receivedObjects']),
        head: name(['head', 'commit', 'revision']),
        error: errorIn(body, texts),
        raw: body,
    };
}
const syncIn = (answer) => {
    const body = (0,client_answer/* objectIn */.D7)(answer);
    return [body['sync'], body['data']].find(json/* isObject */.Gv) ?? body;
};
function createSync({ call, addresses, baseUrl, serverNow }) {
    function reportOf({ answer, texts, fail }) {
        const wrong = (0,refusal/* unusable */._P)(answer, texts);
        if (wrong !== undefined)
            throw fail(wrong);
        const body = syncIn(answer);
        if (Object.keys(body).length === 0)
            throw fail((0,refusal/* notUnderstood */.hf)(answer, texts, 'there is no sync in it'));
        return { ...readSync(body, texts), retryAfterMs: (0,refusal/* retryAfterOf */.sT)(answer, serverNow()) };
    }
    function progressOf({ answer, texts }, from) {
        const named = [(0,client_answer/* headerOf */.rR)(answer, 'location'), (0,json/* firstName */.u$)(syncIn(answer), ['status_url', 'statusUrl'])];
        const followed = named.filter((address) => address !== undefined).map((address) => follow(address, from, baseUrl));
        const target = followed.find((each) => each.kind === 'target');
        // A brand cannot be computed: this is the one place that gives it, to an address on the same server.
        if (target !== undefined)
            return { kind: 'offered', address: target.target };
        const elsewhere = followed.find((each) => each.kind === 'elsewhere');
        if (elsewhere === undefined)
            return { kind: 'none', why: 'The service names no address where the sync can be followed.' };
        const origin = texts.line(elsewhere.origin, 300);
        return {
            kind: 'none',
            why: `The sync can be followed at ${origin} only, which is another server: the token must not go there.`,
        };
    }
    return {
        async startSync({ workspace, branch }, within) {
            const target = addresses.sync(workspace);
            const headers = { 'idempotency-key': crypto.randomUUID() };
            const result = (0,client_call/* expectSuccess */.l)(await call({ method: 'POST', target, headers, body: { branch } }, within));
            return { ...reportOf(result), progress: progressOf(result, target) };
        },
        /** A look that is the last does not wait for a limit that is longer than the wait: `throttled` is false. */
        async syncStatus(address, within, { throttled = true } = {}) {
            return reportOf((0,client_call/* expectSuccess */.l)(await call({ method: 'GET', target: address, throttled }, within)));
        },
    };
}

// EXTERNAL MODULE: ./build/bundle/compiled/client/time-limit.js
var time_limit = __webpack_require__(3450);
;// CONCATENATED MODULE: ./build/bundle/compiled/client/wait-for-release.js



/** RFC 7240 section 3: `wait` is among what the service says it has heeded. */
const waited = (applied) => /(^|[,;\s])wait($|[=,;\s])/i.test(applied ?? '');
/** Asks the service to answer when a path comes free, or when the time is over (RFC 7240, `Prefer: wait`). */
const createWaitForRelease = ({ call, addresses }) => async ({ workspace, path, seconds }, within) => {
    const result = await call({
        method: 'GET',
        target: `${addresses.locks(workspace)}?${new URLSearchParams({ path })}`,
        headers: { prefer: `wait=${seconds}` },
        attempts: 'once',
        answerDelayMs: seconds * 1_000,
    }, within);
    if (result.kind === 'given-up')
        return { kind: 'failed' };
    const { answer, texts } = result;
    const entries = answer.body.kind === 'json' ? entriesOf(answer.body.value, 'locks') : undefined;
    if (!(0,client_answer/* isSuccess */.oJ)(answer) || !waited((0,client_answer/* headerOf */.rR)(answer, 'preference-applied')) || entries === undefined) {
        return { kind: 'unsupported' };
    }
    const holder = entries.map((entry) => (0,known_lock/* readListedLock */.Tq)(entry, texts)).find((lock) => lock?.path === path);
    return holder === undefined ? { kind: 'free' } : { kind: 'held', holder };
};

// EXTERNAL MODULE: ./build/bundle/compiled/client/service-error.js
var service_error = __webpack_require__(3925);
;// CONCATENATED MODULE: ./build/bundle/compiled/client/client.js

















/** The interface over HTTP. It does as much at once as there are connections, and what is more waits its turn. */
function createClient(options) {
    const { requestTimeoutMs = 30_000, clock = client_clock/* steadyClock */.LW, onWarning = () => undefined } = options;
    const baseUrl = new URL(options.baseUrl);
    const serverClock = (0,client_clock/* createServerClock */.my)(clock);
    const connection = (0,client_connection/* openConnection */.JY)(baseUrl);
    const closing = new AbortController();
    const call = (0,client_call/* createCall */.j)({
        baseUrl,
        clock,
        serverClock,
        send: async (request, signal, texts) => (0,client_answer/* readAnswer */.JN)(await connection.send(request, signal), texts),
        timeoutMs: requestTimeoutMs,
        maxConnections: client_connection/* maxConnections */.Q6,
        retries: options.retries ?? 4,
        secrets: [options.token],
        headers: {
            authorization: `Bearer ${options.token}`,
            accept: 'application/json, application/problem+json',
            'accept-encoding': 'identity',
            'user-agent': options.userAgent,
            ...(options.origin !== undefined && { referer: options.origin }),
        },
        sleep: options.sleep ?? time_limit/* sleep */.y,
        random: options.random ?? Math.random,
        closed: closing.signal,
        onAnswer: warnOfDeprecation(onWarning),
        onRetry: options.onRetry ?? (() => undefined),
        onThrottled: options.onThrottled ?? (() => undefined),
    });
    const context = { call, addresses: addressesBelow(baseUrl), baseUrl, clock, serverNow: serverClock.now };
    return {
        ...createLists(context),
        ...createSync(context),
        acquireLock: createAcquireLock(context),
        releaseLock: createReleaseLock(context),
        /** Never fails: who cannot wait so looks again now and then. */
        waitForRelease: createWaitForRelease(context),
        registerHook: createRegisterHook(context),
        /** By the clock of the server, as its last answer told it. */
        serverNow: serverClock.now,
        /** Ends whatever is under way, and closes the connections. */
        dispose() {
            closing.abort();
            connection.close();
        },
    };
}


/***/ }),

/***/ 5064:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   LW: () => (/* binding */ steadyClock),
/* harmony export */   Q$: () => (/* binding */ dateOf),
/* harmony export */   my: () => (/* binding */ createServerClock),
/* harmony export */   ol: () => (/* binding */ timestampIn),
/* harmony export */   vE: () => (/* binding */ timestamp)
/* harmony export */ });
const startedAt = Date.now() - process.uptime() * 1_000;
/** Does not jump when somebody sets the clock of the machine. `performance` does not either, and takes longer to load. */
const steadyClock = () => startedAt + process.uptime() * 1_000;
/**
 * When the answer was made, by the clock of the server: RFC 9110 section 6.6.1, and 9111 section 5.1 for a cache's. A
 * time that no timestamp can tell is none: what is reckoned from it could not be written down.
 */
function dateOf(headers) {
    const date = Date.parse(headers.date ?? '');
    if (Number.isNaN(date))
        return undefined;
    const [age = '0'] = /^\d{1,9}$/.exec(headers.age ?? '') ?? [];
    const told = date + Number(age) * 1_000;
    return timestamp(told) === undefined ? undefined : told;
}
/** The clock of the server, as its last answer told; that of this machine until there was one. */
function createServerClock(clock) {
    let ahead = 0;
    return {
        now: () => clock() + ahead,
        observe: (headers) => {
            const date = dateOf(headers);
            if (date !== undefined)
                ahead = date - clock();
        },
    };
}
const lastYear = Date.UTC(10_000, 0, 1) - 1;
const timestamp = (ms) => ms >= 0 && ms <= lastYear ? new Date(ms).toISOString() : undefined;
/** Numbers below this are seconds since 1970; in milliseconds it would be in 1973. */
const firstMilliseconds = 100_000_000_000;
/** Date.parse finds a date in nearly every text that has a number. */
const looksLikeDate = /^(\d{4}-\d\d-\d\d|(mon|tue|wed|thu|fri|sat|sun)\b)/i;
/** RFC 3339, what else a server may take for a date, or a number of seconds or milliseconds since 1970. */
function timestampIn(json) {
    if (typeof json === 'number')
        return timestamp(json < firstMilliseconds ? json * 1_000 : json);
    if (typeof json !== 'string' || !looksLikeDate.test(json))
        return undefined;
    // Without a zone it would be read in the zone of this machine.
    const zoneless = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?$/.test(json);
    return timestamp(Date.parse(zoneless ? `${json}Z` : json));
}


/***/ }),

/***/ 2073:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

var node_http__WEBPACK_IMPORTED_MODULE_0___namespace_cache;
/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   Dx: () => (/* binding */ connectionFailure),
/* harmony export */   JY: () => (/* binding */ openConnection),
/* harmony export */   Q6: () => (/* binding */ maxConnections)
/* harmony export */ });
/* harmony import */ var node_http__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(7067);
/* harmony import */ var _actions_http_client_lib_proxy__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(9783);
/* harmony import */ var _answer_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(3203);



/** More would only wait for each other at the other end. */
const maxConnections = 16;
async function readBytes(message) {
    const chunks = [];
    let length = 0;
    for await (const chunk of message) {
        const bytes = chunk;
        chunks.push(bytes);
        length += bytes.length;
        // To leave the loop cuts the connection: the rest is never received.
        if (length > _answer_js__WEBPACK_IMPORTED_MODULE_2__/* .maxBodyBytes */ .G4)
            return { bytes: Buffer.concat(chunks), tooLarge: true };
    }
    return { bytes: Buffer.concat(chunks), tooLarge: false };
}
/**
 * The agent that the toolkit's client has for a proxy. It is loaded where there is one, and so is TLS where it is spoken:
 * for a request without either, they would be half of the start.
 */
async function openTunnels(baseUrl, signal) {
    const { HttpClient } = await __webpack_require__.e(/* import() */ 779).then(__webpack_require__.bind(__webpack_require__, 2779));
    const client = new HttpClient(undefined, [], {
        keepAlive: true,
        // A full pool of tunnels never gets all of its places back; how many there are at once is limited before.
        maxSockets: Number.POSITIVE_INFINITY,
    });
    const agent = client.getAgent(baseUrl.href);
    // A tunnel is asked for by a request of its own, which knows no limit unless it is given one.
    if ('proxyOptions' in agent && typeof agent.proxyOptions === 'object')
        Object.assign(agent.proxyOptions ?? {}, { signal });
    return agent;
}
/** Connections to one server: kept alive, and through the proxy that `https_proxy`, `http_proxy` and `no_proxy` name. */
function openConnection(baseUrl) {
    const isHttps = baseUrl.protocol === 'https:';
    const { Agent, request } = isHttps ? process.getBuiltinModule('node:https') : /*#__PURE__*/ (node_http__WEBPACK_IMPORTED_MODULE_0___namespace_cache || (node_http__WEBPACK_IMPORTED_MODULE_0___namespace_cache = __webpack_require__.t(node_http__WEBPACK_IMPORTED_MODULE_0__, 2)));
    const port = baseUrl.port === '' ? (isHttps ? 443 : 80) : Number(baseUrl.port);
    const throughProxy = Boolean((0,_actions_http_client_lib_proxy__WEBPACK_IMPORTED_MODULE_1__/* .getProxyUrl */ .s)(baseUrl)?.hostname);
    const closing = new AbortController();
    const direct = new Agent({ keepAlive: true, maxSockets: maxConnections });
    let tunnels;
    async function agentToUse() {
        if (!throughProxy)
            return direct;
        tunnels ??= openTunnels(baseUrl, closing.signal);
        return tunnels;
    }
    return {
        async send({ method, target, headers, body }, signal) {
            const agent = await agentToUse();
            const message = await new Promise((resolve, reject) => {
                const options = {
                    // An IPv6 address has brackets in a URL alone.
                    host: throughProxy ? baseUrl.hostname : baseUrl.hostname.replace(/^\[(.*)\]$/, '$1'),
                    port,
                    path: target,
                    method,
                    headers,
                    agent,
                    signal,
                };
                request(options, resolve)
                    .on('error', reject)
                    .end(body ?? undefined);
            });
            const { statusCode = 0, headers: received } = message;
            const endIsUnsure = received['content-length'] === undefined && received['transfer-encoding'] === undefined;
            return { status: statusCode, headers: received, endIsUnsure, ...(await readBytes(message)) };
        },
        close() {
            closing.abort();
            direct.destroy();
        },
    };
}
const neverConnected = new Set([
    'ECONNREFUSED',
    'ENOTFOUND',
    'EAI_AGAIN',
    'EHOSTUNREACH',
    'ENETUNREACH',
    'EADDRNOTAVAIL',
    'EPROTO',
]);
/** What breaks before a request can be sent, but is named like what breaks after. */
const unconnectedWords = /^tunneling socket could not be established|before secure TLS connection was established/;
/** As OpenSSL and Node name what is wrong with a certificate. */
const certificate = /CERT|SELF_SIGNED|^UNABLE_TO_(GET|VERIFY|DECODE)|^HOSTNAME_MISMATCH$|^INVALID_CA$/;
const maxWordsLength = 300;
/** It is about a flag of the command line, which whoever reads this did not write. */
const tipOfNode = /; if the root CA is installed locally.*$/s;
/** When a name has several addresses, the errors of all of them come in one that has no words of its own. */
const wordsOf = (error) => error instanceof AggregateError && error.message === ''
    ? error.errors.map((each) => (each instanceof Error ? each.message : String(each))).join('; ')
    : error.message;
const textAt = (error, name) => {
    const value = Reflect.get(error, name);
    return typeof value === 'string' ? value : undefined;
};
function connectionFailure(thrown, texts) {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    const code = textAt(error, 'code');
    const untrusted = code !== undefined && certificate.test(code);
    const unconnected = untrusted ||
        textAt(error, 'syscall') === 'connect' ||
        (code !== undefined && neverConnected.has(code)) ||
        unconnectedWords.test(error.message);
    const words = texts.line(wordsOf(error).replace(tipOfNode, ''), maxWordsLength);
    return {
        kind: 'connection',
        code,
        words: code === undefined || words.includes(code) ? words : `${words} (${code})`,
        mayHaveArrived: !unconnected,
        untrusted,
    };
}


/***/ }),

/***/ 1192:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   DE: () => (/* binding */ unwrapped),
/* harmony export */   Mz: () => (/* binding */ holderIn),
/* harmony export */   Nk: () => (/* binding */ etagOf),
/* harmony export */   Tq: () => (/* binding */ readListedLock),
/* harmony export */   mF: () => (/* binding */ readLock)
/* harmony export */ });
/* harmony import */ var _answer_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(3203);
/* harmony import */ var _clock_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(5064);
/* harmony import */ var _json_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(5395);
/* harmony import */ var _service_text_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(9960);




const names = {
    path: ['path', 'file', 'file_path', 'filePath', 'filename', 'resource'],
    id: ['id', 'lock_id', 'lockId', 'uuid'],
    type: ['type', 'lock_type', 'lockType', 'kind'],
    owner: ['owner', 'owner_name', 'ownerName', 'holder', 'locked_by', 'lockedBy', 'user', 'username', 'created_by'],
    person: ['name', 'login', 'username', 'display_name', 'displayName', 'email', 'id'],
    origin: ['origin', 'run_url', 'runUrl'],
    acquired: ['acquired_at', 'acquiredAt', 'locked_at', 'lockedAt', 'created_at', 'createdAt', 'since'],
    expires: ['expires_at', 'expiresAt', 'expires', 'expiry', 'expiration', 'valid_until', 'until'],
    fence: ['fence', 'fencing_token', 'fencingToken'],
};
const maxNameLength = 256;
const maxOriginLength = 1_024;
/** What can be quoted as an entity tag, RFC 9110 section 8.8.3; anything else proves nothing to the service. */
const opaque = /^[\x21\x23-\x7e\x80-\xff]{1,1024}$/;
const idIn = (lock) => {
    const id = (0,_json_js__WEBPACK_IMPORTED_MODULE_3__/* .firstName */ .u$)(lock, names.id);
    return id !== undefined && opaque.test(id) ? id : undefined;
};
/** Weak tags (W/"…") never match an If-Match, RFC 9110 section 13.1.1: some servers put one on every answer. */
const strong = (etag) => etag === undefined || etag.startsWith('W/') || etag === '*' ? undefined : etag;
/** In a body, some leave the quotes away. */
function etagIn(lock) {
    const tag = (0,_json_js__WEBPACK_IMPORTED_MODULE_3__/* .firstName */ .u$)(lock, ['etag', 'ETag'])?.replace(/^"(.*)"$/s, '$1');
    return tag !== undefined && opaque.test(tag) ? `"${tag}"` : undefined;
}
const etagOf = (answer) => strong((0,_answer_js__WEBPACK_IMPORTED_MODULE_0__/* .headerOf */ .rR)(answer, 'etag'));
/** Not the type of the problem that a lock may be a part of, which is an address. */
const typeIn = (lock) => {
    const type = (0,_json_js__WEBPACK_IMPORTED_MODULE_3__/* .firstName */ .u$)(lock, names.type);
    return type !== undefined && /^[\w.-]{1,64}$/.test(type) ? type : undefined;
};
/** Some write large numbers as texts. One that is not exact any more protects nothing. */
function fenceIn(lock) {
    const fence = (0,_json_js__WEBPACK_IMPORTED_MODULE_3__/* .firstName */ .u$)(lock, names.fence) ?? '';
    const number = /^\d{1,16}$/.test(fence) ? Number(fence) : Number.NaN;
    return Number.isSafeInteger(number) ? number : undefined;
}
function ownerIn(lock) {
    const owner = (0,_json_js__WEBPACK_IMPORTED_MODULE_3__/* .firstMember */ .PE)(lock, names.owner);
    return (0,_json_js__WEBPACK_IMPORTED_MODULE_3__/* .isObject */ .Gv)(owner) ? (0,_json_js__WEBPACK_IMPORTED_MODULE_3__/* .firstName */ .u$)(owner, names.person) : (0,_json_js__WEBPACK_IMPORTED_MODULE_3__/* .nameIn */ .ZC)(owner);
}
/** `path` is what to call it where the service names none. */
function readLock(lock, path, texts) {
    const line = (text, maxLength) => text === undefined ? undefined : (0,_json_js__WEBPACK_IMPORTED_MODULE_3__/* .nameIn */ .ZC)(texts.line(text, maxLength));
    return {
        path: (0,_service_text_js__WEBPACK_IMPORTED_MODULE_2__/* .plainName */ .MH)((0,_json_js__WEBPACK_IMPORTED_MODULE_3__/* .firstName */ .u$)(lock, names.path) ?? path),
        type: typeIn(lock),
        id: idIn(lock),
        etag: etagIn(lock),
        owner: line(ownerIn(lock), maxNameLength),
        origin: line((0,_json_js__WEBPACK_IMPORTED_MODULE_3__/* .firstName */ .u$)(lock, names.origin), maxOriginLength),
        acquired_at: (0,_clock_js__WEBPACK_IMPORTED_MODULE_1__/* .timestampIn */ .ol)((0,_json_js__WEBPACK_IMPORTED_MODULE_3__/* .firstMember */ .PE)(lock, names.acquired)),
        expires_at: (0,_clock_js__WEBPACK_IMPORTED_MODULE_1__/* .timestampIn */ .ol)((0,_json_js__WEBPACK_IMPORTED_MODULE_3__/* .firstMember */ .PE)(lock, names.expires)),
        fence: fenceIn(lock),
        raw: lock,
    };
}
/** An entry of a list of locks; undefined when it names no path. */
function readListedLock(entry, texts) {
    if (typeof entry === 'string')
        return entry === '' ? undefined : readLock({}, entry, texts);
    const lock = (0,_json_js__WEBPACK_IMPORTED_MODULE_3__/* .isObject */ .Gv)(entry) ? unwrapped(entry) : {};
    const path = (0,_json_js__WEBPACK_IMPORTED_MODULE_3__/* .firstName */ .u$)(lock, names.path);
    return path === undefined ? undefined : readLock(lock, path, texts);
}
/** The lock itself where it is wrapped. */
function unwrapped(body) {
    const inner = [body['lock'], body['data'], body['result']].find(_json_js__WEBPACK_IMPORTED_MODULE_3__/* .isObject */ .Gv);
    return inner ?? body;
}
const tellsOfAHolder = (body) => ownerIn(body) !== undefined || (0,_clock_js__WEBPACK_IMPORTED_MODULE_1__/* .timestampIn */ .ol)((0,_json_js__WEBPACK_IMPORTED_MODULE_3__/* .firstMember */ .PE)(body, names.expires)) !== undefined;
/** The lock that stands in the way, in the body of a 409, 412 or 423; undefined when it tells of none. */
function holderIn(answer) {
    const body = (0,_answer_js__WEBPACK_IMPORTED_MODULE_0__/* .objectIn */ .D7)(answer);
    const { locks, holder } = body;
    const [first] = (0,_json_js__WEBPACK_IMPORTED_MODULE_3__/* .isArray */ .cy)(locks) ? locks : [];
    const named = [body['lock'], first, body['current_lock'], (0,_json_js__WEBPACK_IMPORTED_MODULE_3__/* .asObject */ .eB)(body['error'])['lock'], body['data']].find(_json_js__WEBPACK_IMPORTED_MODULE_3__/* .isObject */ .Gv);
    if (named !== undefined)
        return named;
    // A holder is a lock, or whoever has it.
    if ((0,_json_js__WEBPACK_IMPORTED_MODULE_3__/* .isObject */ .Gv)(holder))
        return tellsOfAHolder(holder) ? holder : { owner: holder };
    return tellsOfAHolder(body) ? body : undefined;
}


/***/ }),

/***/ 3004:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  fe: () => (/* binding */ isOwnError),
  hf: () => (/* binding */ notUnderstood),
  bM: () => (/* binding */ rawWordsOf),
  Of: () => (/* binding */ refusalOf),
  sT: () => (/* binding */ retryAfterOf),
  _P: () => (/* binding */ unusable),
  h: () => (/* binding */ unusableThoughOptional)
});

// UNUSED EXPORTS: fieldsOf, requestIdOf, wordsOf

;// CONCATENATED MODULE: ./build/bundle/compiled/interface/retry-after.js
/** RFC 9110 section 10.2.3: milliseconds to wait, from seconds or a date, which is compared with the sender's clock. */
function parseRetryAfter(value, now) {
    const text = value?.trim() ?? '';
    if (/^\d+(\.\d+)?$/.test(text))
        return Math.min(Number(text) * 1_000, Number.MAX_SAFE_INTEGER);
    // Date.parse would read much else as a date. This is the first letter of a day's name in all three forms of HTTP.
    const date = /^(mon|tue|wed|thu|fri|sat|sun)/i.test(text) ? Date.parse(text) : Number.NaN;
    return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

// EXTERNAL MODULE: ./build/bundle/compiled/client/answer.js
var client_answer = __webpack_require__(3203);
// EXTERNAL MODULE: ./build/bundle/compiled/client/json.js
var json = __webpack_require__(5395);
;// CONCATENATED MODULE: ./build/bundle/compiled/client/refusal.js



const idNames = ['request_id', 'requestId', 'request-id', 'correlation_id', 'correlationId', 'trace_id', 'traceId'];
const idHeaders = [
    'x-request-id',
    'request-id',
    'x-correlation-id',
    'x-amzn-requestid',
    'x-amz-request-id',
    'x-ms-request-id',
    'x-trace-id',
    'cf-ray',
];
const maxIdLength = 128;
/** By what the service, or what stands in front of it, finds the request in its log. */
function requestIdOf(answer, texts) {
    const body = (0,client_answer/* objectIn */.D7)(answer);
    const id = (0,json/* firstName */.u$)(body, idNames) ??
        (0,json/* firstName */.u$)((0,json/* asObject */.eB)(body['error']), idNames) ??
        idHeaders.map((name) => (0,client_answer/* headerOf */.rR)(answer, name)).find((value) => value !== undefined);
    return id === undefined ? undefined : texts.line(id, maxIdLength);
}
/** RFC 6750 section 3.1. */
function missingScopeOf(answer, texts) {
    const challenge = (0,client_answer/* headerOf */.rR)(answer, 'www-authenticate') ?? '';
    if (answer.status !== 403 || !/\berror="?insufficient_scope\b/i.test(challenge))
        return undefined;
    const [, scope] = /\bscope="([^"]+)"/i.exec(challenge) ?? [];
    return scope === undefined ? undefined : texts.line(scope, maxIdLength);
}
function retryAfterOf(answer, serverNow) {
    return parseRetryAfter((0,client_answer/* headerOf */.rR)(answer, 'retry-after'), serverNow);
}
/** Where to, without what an address may have of secrets. */
function redirectTarget(location, baseUrl, texts) {
    if (location === undefined || !URL.canParse(location, baseUrl.href))
        return undefined;
    const { protocol, host, pathname } = new URL(location, baseUrl);
    return texts.line(`${protocol}//${host}${pathname}`, 300);
}
/** What an answer means that is none of success. */
function refusalOf(answer, { baseUrl, serverNow, texts }) {
    const { status, body } = answer;
    const requestId = requestIdOf(answer, texts);
    if (status >= 300 && status < 400) {
        return {
            kind: 'redirected',
            status,
            requestId,
            target: redirectTarget((0,client_answer/* headerOf */.rR)(answer, 'location'), baseUrl, texts),
        };
    }
    const json = body.kind === 'json' ? body.value : null;
    const excerpt = body.kind === 'other' || body.kind === 'too-large' ? body.excerpt : '';
    return {
        kind: 'refused',
        status,
        requestId,
        words: body.kind === 'json' ? wordsOf(json, texts) : excerpt === '' ? undefined : excerpt,
        fields: fieldsOf(json, texts),
        missingScope: missingScopeOf(answer, texts),
        retryAfterMs: retryAfterOf(answer, serverNow),
    };
}
const notUnderstood = (answer, texts, why, excerpt = '') => ({
    kind: 'not-understood',
    status: answer.status,
    requestId: requestIdOf(answer, texts),
    why: texts.line(why, 300),
    excerpt,
});
/** Why an answer of success is of no use where JSON was needed; undefined when it is JSON. */
function unusable(answer, texts) {
    const { status, body } = answer;
    const common = { status, requestId: requestIdOf(answer, texts) };
    switch (body.kind) {
        case 'json':
            return undefined;
        case 'empty':
            return { ...common, kind: 'not-json', why: 'it is empty', excerpt: '' };
        case 'other':
            return { ...common, kind: 'not-json', why: body.why, excerpt: body.excerpt };
        case 'too-large':
            return { ...common, kind: 'too-large', why: 'it is longer than 10 MiB', excerpt: body.excerpt };
    }
}
/** The same where a body does not matter: nothing, and a word in plain text, are fine; a page for people is not. */
function unusableThoughOptional(answer, texts) {
    const { body } = answer;
    if (body.kind === 'empty' || (body.kind === 'other' && !body.isHtml))
        return undefined;
    return unusable(answer, texts);
}
const maxWordsLength = 500;
const maxDetailLength = 200;
const maxFields = 20;
const joined = (...parts) => {
    const said = [...new Set(parts.filter((part) => part !== undefined))];
    return said.length === 0 ? undefined : said.join(': ');
};
/** What an error body says, in the words of its sender, as it came. */
function rawWordsOf(body) {
    if (typeof body === 'string')
        return (0,json/* nameIn */.ZC)(body);
    const object = (0,json/* asObject */.eB)(body);
    const error = object['error'];
    const nested = (0,json/* asObject */.eB)(error);
    return ((0,json/* firstName */.u$)(object, ['detail', 'title']) ??
        (0,json/* firstName */.u$)(nested, ['message', 'detail', 'title', 'code']) ??
        // `error` is often no more than a code or the name of the status, and a sentence stands beside it.
        joined((0,json/* nameIn */.ZC)(error), (0,json/* firstName */.u$)(object, ['message', 'error_description'])) ??
        (0,json/* firstName */.u$)((0,json/* asObject */.eB)(object['fault']), ['faultstring']));
}
/** `#/hook/url`, `/hook/url`, `["body", "hook", "url"]` or `hook.url`. */
function fieldOf(error) {
    const path = error['loc'] ?? error['path'];
    if ((0,json/* isArray */.cy)(path))
        return path.map((part) => (0,json/* nameIn */.ZC)(part) ?? '').join('/');
    const source = (0,json/* asObject */.eB)(error['source']);
    const name = (0,json/* firstName */.u$)(error, ['pointer', 'field', 'param', 'path', 'name']) ?? (0,json/* firstName */.u$)(source, ['pointer']);
    return name?.replace(/^#?\//, '');
}
function fieldErrors(errors) {
    if ((0,json/* isArray */.cy)(errors)) {
        return errors.flatMap((error) => {
            const detail = typeof error === 'string' ? error : (0,json/* firstName */.u$)((0,json/* asObject */.eB)(error), ['detail', 'message', 'msg', 'title']);
            return detail === undefined ? [] : [{ field: (0,json/* isObject */.Gv)(error) ? fieldOf(error) : undefined, detail }];
        });
    }
    return Object.entries((0,json/* asObject */.eB)(errors)).flatMap(([field, details]) => ((0,json/* isArray */.cy)(details) ? details : [details]).flatMap((detail) => {
        const text = (0,json/* nameIn */.ZC)(detail);
        return text === undefined ? [] : [{ field, detail: text }];
    }));
}
function fieldsOf(body, texts) {
    const object = (0,json/* asObject */.eB)(body);
    const nested = (0,json/* asObject */.eB)(object['error']);
    const lists = [object['errors'], object['detail'], object['details'], nested['errors'], nested['details']];
    const found = lists.map(fieldErrors).find((errors) => errors.length > 0) ?? [];
    return found.slice(0, maxFields).map(({ field, detail }) => ({
        field: field === undefined || field === '' ? undefined : texts.line(field, maxDetailLength),
        detail: texts.line(detail, maxDetailLength),
    }));
}
function wordsOf(body, texts) {
    const words = rawWordsOf(body);
    return words === undefined ? undefined : (0,json/* nameIn */.ZC)(texts.line(words, maxWordsLength));
}
/** What is said where an address is not known, which says nothing about a lock. */
const ofNoRoute = [
    /^(4\d\d )?(not found|bad request|method not allowed|(request-)?uri too (long|large))\.?$/i,
    /^(the )?(requested )?(page|resource|route|url|uri|endpoint)\b.*\b(not found|not exist|doesn't exist|not available)\b/i,
    /^no (matching )?route\b/i,
    /^cannot [a-z]+ \//i,
];
/**
 * Whether the API itself has answered with an error, and not something on the way to it: an API says in JSON what is
 * wrong. A request id in a header is no sign of it, because proxies give one too.
 */
function isOwnError(answer) {
    const body = (0,client_answer/* objectIn */.D7)(answer);
    if ((0,json/* nameIn */.ZC)(body['request_id']) !== undefined)
        return true;
    const said = rawWordsOf(body)?.split(': ') ?? [];
    return said.some((words) => !ofNoRoute.some((pattern) => pattern.test(words.trim())));
}


/***/ }),

/***/ 3925:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   _: () => (/* binding */ ServiceError)
/* harmony export */ });
/* unused harmony export answerIn */
/* harmony import */ var node_http__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(7067);
/* harmony import */ var _interface_duration_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(4393);


/** What of the answer is known that a failure is about; undefined when there was none. */
function answerIn(failure) {
    if (failure.kind === 'deadline')
        return failure.last && answerIn(failure.last);
    return 'status' in failure ? failure : undefined;
}
/** Why an operation has no result. Its message is a sentence for a person, in one line. */
class ServiceError extends Error {
    name = 'ServiceError';
    failure;
    method;
    path;
    attempts;
    constructor(call, failure) {
        super(sentenceOf(call, failure));
        this.failure = failure;
        this.method = call.method;
        this.path = call.path;
        this.attempts = call.attempts;
    }
    /** Of the last answer, where there was one. */
    get status() {
        return answerIn(this.failure)?.status;
    }
    get requestId() {
        return answerIn(this.failure)?.requestId;
    }
}
const asSentence = (text) => (/[.!?…]$/.test(text) ? text : `${text}.`);
const maxFieldsShown = 5;
function fieldsText(fields, words) {
    const added = fields.filter(({ detail }) => !words.includes(detail));
    const shown = added
        .slice(0, maxFieldsShown)
        .map(({ field, detail }) => ` ${field === undefined ? '' : `${field}: `}${asSentence(detail)}`);
    const more = added.length - shown.length;
    return shown.join('') + (more > 0 ? ` And ${more} more.` : '');
}
function adviceOn({ status, missingScope }) {
    if (missingScope !== undefined)
        return ` Use a token that has the scope ${missingScope}.`;
    return status === 401 ? ' The token may have expired or been revoked: create a new one, and update the secret.' : '';
}
function refusedText(refused) {
    const words = refused.words ?? (refused.status < 500 ? 'The service refused the request' : 'The service failed');
    return asSentence(words) + fieldsText(refused.fields, words) + adviceOn(refused);
}
function redirectedText({ target }) {
    const to = target === undefined ? '' : ` to ${target}`;
    return `The service redirects${to}. Redirects are not followed, because the token would travel with them: use the address where the service really is.`;
}
function outOfTimeText({ last, retryAfterMs, limited }) {
    if (last === undefined && limited) {
        return 'The service limits how many requests it takes, and other requests came first: this one was not sent in time.';
    }
    if (last === undefined)
        return 'The service did not answer in time.';
    const before = failureText(last);
    if (retryAfterMs === undefined)
        return `${before} There was no time left to try again.`;
    return `${before} The service asks to wait for ${(0,_interface_duration_js__WEBPACK_IMPORTED_MODULE_1__/* .spanOfMs */ .E$)(retryAfterMs)}, and less time is left.`;
}
function connectionText({ words, untrusted }) {
    if (!untrusted)
        return asSentence(`The connection failed: ${words}`);
    const why = asSentence(`The server cannot be trusted, so nothing was sent: ${words}`);
    return `${why} If its certificate is from your own authority, name that in NODE_EXTRA_CA_CERTS.`;
}
function unusableText({ why, excerpt }) {
    const begins = excerpt === '' ? '' : ` It begins with: ${asSentence(excerpt)}`;
    return asSentence(`The answer cannot be used: ${why}`) + begins;
}
function failureText(failure) {
    switch (failure.kind) {
        case 'refused':
            return refusedText(failure);
        case 'redirected':
            return redirectedText(failure);
        case 'not-json':
        case 'not-understood':
        case 'too-large':
            return unusableText(failure);
        case 'timeout':
            return `The service did not answer within ${(0,_interface_duration_js__WEBPACK_IMPORTED_MODULE_1__/* .spanOfMs */ .E$)(failure.limitMs)}.`;
        case 'connection':
            return connectionText(failure);
        case 'deadline':
            return outOfTimeText(failure);
        case 'aborted':
            return 'The request was cancelled.';
        case 'unsendable':
            return `The request cannot be sent: ${failure.why}.`;
    }
}
/** The cause, what to do, and then which request it was, in one line. */
function sentenceOf({ method, path, attempts }, failure) {
    const answer = answerIn(failure);
    const status = answer && `: ${answer.status} ${node_http__WEBPACK_IMPORTED_MODULE_0__.STATUS_CODES[answer.status] ?? ''}`.trimEnd();
    const id = answer?.requestId === undefined ? '' : `, request id ${answer.requestId}`;
    const tried = attempts > 1 ? `, ${attempts} attempts` : '';
    return `${failureText(failure).replace(/\.$/, '')} (${method} ${path}${status ?? ''}${id}${tried}).`;
}


/***/ }),

/***/ 9960:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   MH: () => (/* binding */ plainName),
/* harmony export */   T2: () => (/* binding */ createServiceText),
/* harmony export */   te: () => (/* binding */ looksLikeHtml)
/* harmony export */ });
/* unused harmony export htmlToText */
/* harmony import */ var _interface_redact_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(2148);

/** What moves a cursor, starts a line, reorders or hides text; a run of it, with the blanks around it, is one blank. */
const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s]+/gu;
const controlCharacter = /[\p{Cc}\p{Cs}]/gu;
/** Of a longer text the rest is not even looked at. */
const maxReadLength = 16_384;
/** In data, so short a secret would be found in words that have nothing to do with it. */
const minDataSecretLength = 8;
function cut(text, maxLength) {
    if (text.length <= maxLength)
        return text;
    // Not between the halves of a surrogate pair.
    return `${text.slice(0, maxLength - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
function createServiceText(secrets) {
    const anywhere = (0,_interface_redact_js__WEBPACK_IMPORTED_MODULE_0__/* .spellingsOf */ .Hz)(secrets);
    const inData = anywhere.filter((secret) => secret.length >= minDataSecretLength);
    const maxSecretLength = anywhere[0]?.length ?? 0;
    const minTextLength = inData.at(-1)?.length ?? Number.POSITIVE_INFINITY;
    /** `goesOn`: what was read ends where it may have ended within a secret, of which the beginning is not shown either. */
    function shown(text, maxLength, goesOn) {
        // Redacted before it is cut: half a secret is one too.
        const redacted = (0,_interface_redact_js__WEBPACK_IMPORTED_MODULE_0__/* .redact */ .E$)(text.replaceAll(unsafe, ' ').trim(), anywhere);
        return cut(goesOn ? redacted.slice(0, Math.max(0, redacted.length - maxSecretLength)) : redacted, maxLength);
    }
    return {
        line: (text, maxLength) => shown(text.slice(0, maxReadLength), maxLength, text.length > maxReadLength),
        excerpt: (body, maxLength) => shown(htmlToText(body.slice(0, maxReadLength)), maxLength, body.length > maxReadLength),
        // An answer may have millions of texts, most of them shorter than any secret.
        data: (text) => (text.length < minTextLength ? text : (0,_interface_redact_js__WEBPACK_IMPORTED_MODULE_0__/* .redact */ .E$)(text, inData)),
    };
}
/** Paths and ids are shorter. */
const maxNameLength = 4_096;
/**
 * More marks on one letter than any language has (Unicode Standard Annex 15, section 13, "Stream-Safe Text Format"). To
 * put them in order takes time that grows with the square of their number, and a list may have thousands of such names.
 */
const tooManyMarks = /\p{M}{31}/u;
/**
 * A path or an id as the service names it: comparable with ours, and without control characters, which none has. What is
 * too long for either is cut, and what nobody writes is left as it came.
 */
function plainName(name) {
    // Long enough that there is something left to cut.
    const read = name.slice(0, maxNameLength + 1);
    const composed = tooManyMarks.test(read) ? read : read.normalize('NFC');
    return cut(composed.replaceAll(controlCharacter, '\ufffd'), maxNameLength);
}
const tag = /<\/?[a-z!][^<>]*>/gi;
const entities = {
    '&lt;': '<',
    '&gt;': '>',
    '&quot;': '"',
    '&#39;': "'",
    '&apos;': "'",
    '&nbsp;': ' ',
    '&amp;': '&',
};
const looksLikeHtml = (text) => /^\s*<(!doctype|html|head|body|!--)/i.test(text);
/** What begins a part of a page that nobody reads, and what ends it. */
const beginning = /<(?:(script|style|template)\b[^<>]*>|!--)/gi;
const ends = {
    script: /<\/script\s*>/gi,
    style: /<\/style\s*>/gi,
    template: /<\/template\s*>/gi,
    comment: /-->/g,
};
/**
 * Without scripts, styles, templates and comments; one that does not end is left as it is. That there is no end is found
 * out once for each kind: looked for again at every beginning, a page of beginnings would take time that grows with the
 * square of its length.
 */
function withoutUnseen(text) {
    const endless = new Set();
    let seen = '';
    let from = 0;
    for (const { 0: begun, 1: name = 'comment', index } of text.matchAll(beginning)) {
        const kind = name.toLowerCase();
        const end = ends[kind];
        if (index < from || end === undefined || endless.has(kind))
            continue;
        end.lastIndex = index + begun.length;
        if (end.test(text)) {
            seen += `${text.slice(from, index)} `;
            from = end.lastIndex;
        }
        else
            endless.add(kind);
    }
    return seen + text.slice(from);
}
/** What of a page a person would read; a text that is none comes back as it is. */
function htmlToText(text) {
    if (!looksLikeHtml(text))
        return text;
    return withoutUnseen(text)
        .replaceAll(tag, ' ')
        .replaceAll(/&(?:lt|gt|quot|#39|apos|nbsp|amp);/g, (entity) => entities[entity] ?? entity);
}


/***/ }),

/***/ 3450:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   r: () => (/* binding */ startTimeLimit),
/* harmony export */   y: () => (/* binding */ sleep)
/* harmony export */ });
/* harmony import */ var node_timers_promises__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(8500);
/* harmony import */ var _interface_timers_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(671);


const startMachineTimer = (ms, work) => {
    const timer = setTimeout(work, Math.min(Math.max(ms, 0), _interface_timers_js__WEBPACK_IMPORTED_MODULE_1__/* .maxTimerMs */ .S));
    return () => clearTimeout(timer);
};
/** `AbortSignal.timeout` that can be stopped, and whose timer can be handed in. */
function startTimeLimit(ms, outer, startTimer = startMachineTimer) {
    const timer = new AbortController();
    const stop = startTimer(ms, () => timer.abort());
    const signal = AbortSignal.any([timer.signal, ...outer]);
    return { signal, stop, isOver: () => timer.signal.aborted && signal.reason === timer.signal.reason };
}
/** Ends early, without an error, when the signal is aborted. */
async function sleep(ms, signal) {
    for (let left = ms; left > 0 && !signal.aborted; left -= _interface_timers_js__WEBPACK_IMPORTED_MODULE_1__/* .maxTimerMs */ .S) {
        await (0,node_timers_promises__WEBPACK_IMPORTED_MODULE_0__.setTimeout)(Math.min(left, _interface_timers_js__WEBPACK_IMPORTED_MODULE_1__/* .maxTimerMs */ .S), undefined, { signal }).catch(() => undefined);
    }
}


/***/ }),

/***/ 671:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   S: () => (/* binding */ maxTimerMs),
/* harmony export */   W: () => (/* binding */ unlessAborted)
/* harmony export */ });
/** A longer time would make a timer fire at once. */
const maxTimerMs = 2 ** 31 - 1;
/** Rejects as soon as the signal is aborted. The work itself goes on; what it ends with then is ignored. */
async function unlessAborted(work, signal) {
    const aborted = Promise.withResolvers();
    const stop = () => aborted.reject(signal.reason);
    if (signal.aborted)
        stop();
    signal.addEventListener('abort', stop, { once: true });
    try {
        return await Promise.race([work, aborted.promise]);
    }
    finally {
        // A signal of AbortSignal.any that somebody listens to is never collected.
        signal.removeEventListener('abort', stop);
    }
}


/***/ }),

/***/ 9783:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   s: () => (/* binding */ getProxyUrl)
/* harmony export */ });
/* unused harmony export checkBypass */
function getProxyUrl(reqUrl) {
    const usingSsl = reqUrl.protocol === 'https:';
    if (checkBypass(reqUrl)) {
        return undefined;
    }
    const proxyVar = (() => {
        if (usingSsl) {
            return process.env['https_proxy'] || process.env['HTTPS_PROXY'];
        }
        else {
            return process.env['http_proxy'] || process.env['HTTP_PROXY'];
        }
    })();
    if (proxyVar) {
        try {
            return new DecodedURL(proxyVar);
        }
        catch (_a) {
            if (!proxyVar.startsWith('http://') && !proxyVar.startsWith('https://'))
                return new DecodedURL(`http://${proxyVar}`);
        }
    }
    else {
        return undefined;
    }
}
function checkBypass(reqUrl) {
    if (!reqUrl.hostname) {
        return false;
    }
    const reqHost = reqUrl.hostname;
    if (isLoopbackAddress(reqHost)) {
        return true;
    }
    const noProxy = process.env['no_proxy'] || process.env['NO_PROXY'] || '';
    if (!noProxy) {
        return false;
    }
    // Determine the request port
    let reqPort;
    if (reqUrl.port) {
        reqPort = Number(reqUrl.port);
    }
    else if (reqUrl.protocol === 'http:') {
        reqPort = 80;
    }
    else if (reqUrl.protocol === 'https:') {
        reqPort = 443;
    }
    // Format the request hostname and hostname with port
    const upperReqHosts = [reqUrl.hostname.toUpperCase()];
    if (typeof reqPort === 'number') {
        upperReqHosts.push(`${upperReqHosts[0]}:${reqPort}`);
    }
    // Compare request host against noproxy
    for (const upperNoProxyItem of noProxy
        .split(',')
        .map(x => x.trim().toUpperCase())
        .filter(x => x)) {
        if (upperNoProxyItem === '*' ||
            upperReqHosts.some(x => x === upperNoProxyItem ||
                x.endsWith(`.${upperNoProxyItem}`) ||
                (upperNoProxyItem.startsWith('.') &&
                    x.endsWith(`${upperNoProxyItem}`)))) {
            return true;
        }
    }
    return false;
}
function isLoopbackAddress(host) {
    const hostLower = host.toLowerCase();
    return (hostLower === 'localhost' ||
        hostLower.startsWith('127.') ||
        hostLower.startsWith('[::1]') ||
        hostLower.startsWith('[0:0:0:0:0:0:0:1]'));
}
class DecodedURL extends URL {
    constructor(url, base) {
        super(url, base);
        this._decodedUsername = decodeURIComponent(super.username);
        this._decodedPassword = decodeURIComponent(super.password);
    }
    get username() {
        return this._decodedUsername;
    }
    get password() {
        return this._decodedPassword;
    }
}
//# sourceMappingURL=proxy.js.map

/***/ })

};
