export const id = 290;
export const ids = [290];
export const modules = {

/***/ 2661:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   TC: () => (/* binding */ findSource),
/* harmony export */   Vb: () => (/* binding */ nameOf)
/* harmony export */ });
/* unused harmony export parseChange */
/* harmony import */ var node_fs__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(3024);
/* harmony import */ var _client_json_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(5395);
/* harmony import */ var _interface_loopback_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(672);
/* harmony import */ var _interface_parsed_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(9296);




const instead = 'Name the files with `path` instead.';
const isNone = (commit) => /^0+$/.test(commit);
function commitIn(json) {
    return typeof json === 'string' && /^(?:[\da-f]{40}|[\da-f]{64})$/.test(json) ? json : undefined;
}
const shortRef = (ref) => ref.replace(/^refs\/(?:heads|tags)\//, '');
function parsePush(payload) {
    const ref = (0,_client_json_js__WEBPACK_IMPORTED_MODULE_1__/* .nameIn */ .ZC)(payload['ref']);
    const before = commitIn(payload['before']);
    const after = commitIn(payload['after']);
    if (ref === undefined || before === undefined || after === undefined) {
        return (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_2__/* .refused */ .J)(`The event of the push does not say from which commit to which it goes. ${instead}`);
    }
    if (isNone(after))
        return (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_2__/* .accepted */ .q)({ kind: 'deleted-ref', ref });
    if (!isNone(before))
        return (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_2__/* .accepted */ .q)({ kind: 'push', ref, before, after });
    const defaultBranch = (0,_client_json_js__WEBPACK_IMPORTED_MODULE_1__/* .nameIn */ .ZC)((0,_client_json_js__WEBPACK_IMPORTED_MODULE_1__/* .asObject */ .eB)(payload['repository'])['default_branch']);
    if (defaultBranch === undefined) {
        return (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_2__/* .refused */ .J)(`The push makes ${JSON.stringify(shortRef(ref))}, and its event does not say with which branch to compare that. ${instead}`);
    }
    if (ref === `refs/heads/${defaultBranch}`) {
        return (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_2__/* .refused */ .J)(`The push makes the default branch ${JSON.stringify(defaultBranch)}: there is nothing to compare it with. ${instead}`);
    }
    return (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_2__/* .accepted */ .q)({ kind: 'new-ref', ref, after, defaultBranch });
}
function parseMergeGroup(payload) {
    const group = (0,_client_json_js__WEBPACK_IMPORTED_MODULE_1__/* .asObject */ .eB)(payload['merge_group']);
    const base = commitIn(group['base_sha']);
    const head = commitIn(group['head_sha']);
    return base === undefined || head === undefined || isNone(base) || isNone(head)
        ? (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_2__/* .refused */ .J)(`The event of the merge group does not say from which commit to which it goes. ${instead}`)
        : (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_2__/* .accepted */ .q)({ kind: 'merge-group', base, head });
}
function parseChange(event, payload) {
    if (!(0,_client_json_js__WEBPACK_IMPORTED_MODULE_1__/* .isObject */ .Gv)(payload))
        return (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_2__/* .refused */ .J)(`The event file does not contain a JSON object. ${instead}`);
    const number = (0,_client_json_js__WEBPACK_IMPORTED_MODULE_1__/* .asObject */ .eB)(payload['pull_request'])['number'];
    if (typeof number === 'number' && Number.isSafeInteger(number) && number > 0) {
        return (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_2__/* .accepted */ .q)({ kind: 'pull-request', number });
    }
    if (event === 'push')
        return parsePush(payload);
    if (event === 'merge_group')
        return parseMergeGroup(payload);
    const what = event === '' ? 'The run has no event' : `The event of the run is ${JSON.stringify(event)}`;
    return (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_2__/* .refused */ .J)(`${what}, of which no changed files are known: they are known of events with a pull request (pull_request, pull_request_target, pull_request_review and others), of push and of merge_group. ${instead}`);
}
const short = (commit) => commit.slice(0, 7);
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
function readEvent(file) {
    if (file === '')
        return (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_2__/* .refused */ .J)('The runner names no file with the event of the run (GITHUB_EVENT_PATH).');
    try {
        return (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_2__/* .accepted */ .q)((0,node_fs__WEBPACK_IMPORTED_MODULE_0__.readFileSync)(file, 'utf8'));
    }
    catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        return (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_2__/* .refused */ .J)(`The file with the event of the run cannot be read: ${why}.`);
    }
}
function readChange({ name, file }) {
    const text = readEvent(file);
    if (!text.ok)
        return text;
    const payload = (0,_client_json_js__WEBPACK_IMPORTED_MODULE_1__/* .parseJson */ .qF)(text.value, (each) => each);
    return payload.ok
        ? parseChange(name, payload.value)
        : (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_2__/* .refused */ .J)(`The file with the event of the run cannot be used: ${payload.why}.`);
}
function parseRepository(text) {
    const [, owner, repo] = /^([\w.-]+)\/([\w.-]+)$/.exec(text) ?? [];
    return owner === undefined || repo === undefined
        ? (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_2__/* .refused */ .J)('The runner does not name the repository as owner/name (GITHUB_REPOSITORY).')
        : (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_2__/* .accepted */ .q)({ owner, repo });
}
function parseApiUrl(text, allowHttp) {
    const url = URL.parse(text === '' ? 'https://api.github.com' : text);
    if (url === null || !/^https?:$/.test(url.protocol)) {
        return (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_2__/* .refused */ .J)("The runner does not name the address of GitHub's interface (GITHUB_API_URL).");
    }
    if (url.protocol === 'http:' && !allowHttp && !(0,_interface_loopback_js__WEBPACK_IMPORTED_MODULE_3__/* .isLoopback */ .U)(url.hostname)) {
        return (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_2__/* .refused */ .J)(`The interface of GitHub is at ${url.origin}: plain http would expose the token to everyone on the way. Set \`allow-http: true\` on a network that is yours alone.`);
    }
    return (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_2__/* .accepted */ .q)(`${url.origin}${url.pathname}`.replace(/(?<!\/)\/+$/, ''));
}
function findSource(event, { token, allowHttp }) {
    const change = readChange(event);
    if (!change.ok)
        return change;
    const repository = parseRepository(event.repository);
    if (!repository.ok)
        return repository;
    const apiUrl = parseApiUrl(event.apiUrl, allowHttp);
    if (!apiUrl.ok)
        return apiUrl;
    return (0,_interface_parsed_js__WEBPACK_IMPORTED_MODULE_2__/* .accepted */ .q)({ change: change.value, repository: repository.value, apiUrl: apiUrl.value, token });
}


/***/ }),

/***/ 3981:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   IX: () => (/* binding */ lookupIn),
/* harmony export */   TE: () => (/* binding */ lookUp),
/* harmony export */   XO: () => (/* binding */ listTogether),
/* harmony export */   cP: () => (/* binding */ listOnPaths)
/* harmony export */ });
/* unused harmony export commonFolder */
/* harmony import */ var _client_client_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(2683);

const maxSingleRequests = 8;
function commonFolder(paths) {
    const [first = '', ...others] = paths;
    let length = first.lastIndexOf('/') + 1;
    for (const path of others) {
        while (!path.startsWith(first.slice(0, length)))
            length = first.lastIndexOf('/', length - 2) + 1;
    }
    return first.slice(0, length);
}
async function listTogether(client, workspace, paths, within) {
    const wanted = new Set(paths);
    const prefix = commonFolder(paths);
    const filter = prefix === '' ? {} : { prefix };
    const { items, incomplete } = await client.listLocks({ workspace, filter }, within);
    return { items: items.filter(({ path }) => wanted.has(path)), incomplete };
}
async function listOnPaths(client, workspace, paths, within) {
    if (paths.length > maxSingleRequests)
        return listTogether(client, workspace, paths, within);
    const lists = await Promise.all(paths.map((path) => client.listLocks({ workspace, filter: { path } }, within)));
    return {
        items: lists.flatMap(({ items }) => items),
        incomplete: lists.find(({ incomplete }) => incomplete !== undefined)?.incomplete,
    };
}
const refusesLists = ({ status = 0 }) => [403, 404, 405, 501].includes(status);
async function lookupIn(list) {
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
        if (!(error instanceof _client_client_js__WEBPACK_IMPORTED_MODULE_0__/* .ServiceError */ ._7))
            throw error;
        const result = refusesLists(error) ? { kind: 'unknown' } : { kind: 'failed', error };
        return () => result;
    }
}
async function lookUp(client, { workspace, path }, within) {
    return (await lookupIn(client.listLocks({ workspace, filter: { path } }, within)))(path);
}


/***/ }),

/***/ 8767:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   D4: () => (/* binding */ alreadyHeldText),
/* harmony export */   Dx: () => (/* binding */ heldText),
/* harmony export */   VU: () => (/* binding */ unprovenText),
/* harmony export */   f3: () => (/* binding */ pastMoment),
/* harmony export */   o1: () => (/* binding */ waitAdvice),
/* harmony export */   uw: () => (/* binding */ stepText)
/* harmony export */ });
/* harmony import */ var _interface_duration_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(4393);
/* harmony import */ var _report_words_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(1046);
/* harmony import */ var _ownership_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(9706);



const pastMoment = (time, now) => (0,_report_words_js__WEBPACK_IMPORTED_MODULE_1__/* .moment */ .n$)(time, Math.max(now, time + 1));
function heldText(path, holder, now, withStart = false) {
    const parts = [`${path} is held`];
    if (holder?.owner !== undefined)
        parts.push(` by ${holder.owner}`);
    if (holder?.expires_at !== undefined)
        parts.push(` until ${(0,_report_words_js__WEBPACK_IMPORTED_MODULE_1__/* .moment */ .n$)(Date.parse(holder.expires_at), now)}`);
    if (holder?.origin !== undefined)
        parts.push(`, taken by ${holder.origin}`);
    if (withStart && holder?.acquired_at !== undefined)
        parts.push(`, since ${pastMoment(Date.parse(holder.acquired_at), now)}`);
    return parts.join('');
}
const unprovenText = ({ path, ttl, at }) => `It is not known whether this step locked ${path}: its request at ${at} got no answer, and the service does not say now. If it did, that lock ends ${ttl} after it was taken.`;
const hourInMinutes = 60;
function later(minutes) {
    const step = [1, 5, 15, hourInMinutes].findLast((each) => minutes >= 2 * each) ?? 1;
    return (Math.floor(minutes / step) + 1) * step;
}
const maxSuggestion = 6 * hourInMinutes;
function waitAdvice(expiresAt, now) {
    const ms = expiresAt === undefined ? Number.NaN : Date.parse(expiresAt) - now;
    const minutes = Math.ceil((ms - _ownership_js__WEBPACK_IMPORTED_MODULE_2__/* .answerClockMs */ .J5) / 60_000);
    if (!(ms > 0) || minutes > maxSuggestion)
        return 'Set `wait` to wait for it.';
    return `Set \`wait: ${(0,_interface_duration_js__WEBPACK_IMPORTED_MODULE_0__/* .formatDuration */ .a3)({ seconds: later(minutes) * 60 })}\` to wait for it.`;
}
function stepText(name) {
    if (name === undefined)
        return 'an earlier step';
    return name.startsWith('__') ? `an earlier step without an \`id\` (${name})` : `the step \`${name}\``;
}
const maxNamed = 3;
function alreadyHeldText(own, asked, now) {
    const steps = [...new Set(own.map(({ stepName }) => stepText(stepName)))].join(' and ');
    const soonest = Math.min(...own.map(({ expiresAt }) => expiresAt));
    const until = Number.isNaN(soonest) ? '' : `, until ${(0,_report_words_js__WEBPACK_IMPORTED_MODULE_1__/* .moment */ .n$)(soonest, now)}`;
    const paths = (0,_report_words_js__WEBPACK_IMPORTED_MODULE_1__/* .listed */ .KE)(own.map(({ path }) => path), maxNamed);
    const who = `This job already holds ${paths}: ${steps} locked ${own.length === 1 ? 'it' : 'them'}${until}.`;
    const release = 'release what is not needed any more with `operation: unlock`';
    if (own.length < asked.paths.length) {
        return `${who} Name only the other paths in this step, or ${release} before this step.`;
    }
    return soonest - now >= (asked.ttl.seconds * 1_000) / 2
        ? `${who} Those are all paths of this step, for at least half of its \`ttl\` of ${(0,_interface_duration_js__WEBPACK_IMPORTED_MODULE_0__/* .formatDuration */ .a3)(asked.ttl)}: leave this step out, or ${release} before it.`
        : `${who} Those are all paths of this step: leave it out and raise the \`ttl\` of the earlier step, or ${release} before it.`;
}


/***/ }),

/***/ 9706:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   J5: () => (/* binding */ answerClockMs),
/* harmony export */   PU: () => (/* binding */ isOver),
/* harmony export */   UD: () => (/* binding */ compare),
/* harmony export */   zU: () => (/* binding */ clockSlackMs)
/* harmony export */ });
const answerClockMs = 1_000;
const clockSlackMs = 2 * answerClockMs;
const differ = (one, other) => one !== undefined && other !== undefined && one !== other;
const msBetween = (one, other) => one === undefined || other === undefined ? Number.NaN : Date.parse(other) - Date.parse(one);
const isWholeSecond = (time) => Date.parse(time ?? '') % 1_000 === 0;
function areDifferentMoments(one, other) {
    const ms = Math.abs(msBetween(one, other));
    return ms >= 1_000 || (ms > 0 && !isWholeSecond(one) && !isWholeSecond(other));
}
const isAnother = (own, listed) => differ(own.id, listed.id) ||
    differ(own.owner, listed.owner) ||
    areDifferentMoments(own.acquired_at, listed.acquired_at) ||
    msBetween(own.grantedAt, listed.acquired_at) > clockSlackMs;
const isSame = (own, listed) => (own.id !== undefined && own.id === listed.id) || msBetween(own.acquired_at, listed.acquired_at) === 0;
function compare(own, listed) {
    if (isAnother(own, listed))
        return 'lost';
    return isSame(own, listed) ? 'ours' : 'unknown';
}
function isOver({ expires_at = '' }, serverNow) {
    const end = Date.parse(expires_at);
    return !(end > serverNow + clockSlackMs);
}


/***/ }),

/***/ 2290:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

__webpack_require__.r(__webpack_exports__);
/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   failuresOf: () => (/* binding */ failuresOf),
/* harmony export */   listLocks: () => (/* binding */ listLocks)
/* harmony export */ });
/* harmony import */ var _changed_files_change_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(2661);
/* harmony import */ var _context_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(1659);
/* harmony import */ var _locks_lookup_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(3981);
/* harmony import */ var _locks_messages_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(8767);
/* harmony import */ var _outcome_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(8776);
/* harmony import */ var _paths_resolve_paths_js__WEBPACK_IMPORTED_MODULE_5__ = __webpack_require__(5340);
/* harmony import */ var _report_redact_js__WEBPACK_IMPORTED_MODULE_6__ = __webpack_require__(2938);
/* harmony import */ var _report_words_js__WEBPACK_IMPORTED_MODULE_7__ = __webpack_require__(1046);








async function extentOf(scope, { runner }) {
    switch (scope.kind) {
        case 'paths': {
            const paths = await (0,_paths_resolve_paths_js__WEBPACK_IMPORTED_MODULE_5__/* .resolvePaths */ .L)(scope.paths, runner);
            return paths.length === 0 ? { kind: 'workspace' } : { kind: 'paths', paths: paths.map(({ path }) => path) };
        }
        case 'changed-files': {
            const source = (0,_changed_files_change_js__WEBPACK_IMPORTED_MODULE_0__/* .findSource */ .TC)(runner.event, { token: scope.githubToken, allowHttp: scope.allowHttp });
            if (source.ok)
                return { kind: 'changed-files', source: source.value };
            throw new _outcome_js__WEBPACK_IMPORTED_MODULE_4__/* .InputError */ .dz([`Input \`changed-files\` is "true". ${source.why}`]);
        }
    }
}
const capitalised = (text) => text.charAt(0).toUpperCase() + text.slice(1);
async function pathsOf(extent, context, within) {
    switch (extent.kind) {
        case 'workspace':
            return { paths: undefined, among: '' };
        case 'paths':
            return { paths: extent.paths, among: `, among ${(0,_report_words_js__WEBPACK_IMPORTED_MODULE_7__/* .count */ .U9)(extent.paths.length, 'path')}` };
        case 'changed-files': {
            const { source } = extent;
            const { lookUpChangedFiles } = await Promise.all(/* import() */[__webpack_require__.e(413), __webpack_require__.e(115)]).then(__webpack_require__.bind(__webpack_require__, 8730));
            const { of, files, paths } = await lookUpChangedFiles(source, context, within);
            const { owner, repo } = source.repository;
            const different = paths.length === files ? '' : `, which makes ${(0,_report_words_js__WEBPACK_IMPORTED_MODULE_7__/* .count */ .U9)(paths.length, 'path')} to look up`;
            context.log.line(`${capitalised(of)} of ${owner}/${repo} changes ${(0,_report_words_js__WEBPACK_IMPORTED_MODULE_7__/* .count */ .U9)(files, 'file')}${different}.`);
            return { paths, among: `, among ${(0,_report_words_js__WEBPACK_IMPORTED_MODULE_7__/* .count */ .U9)(files, 'file')} of ${of}` };
        }
    }
}
function asOutput(lock) {
    const { raw, path, type, id, etag, owner, acquired_at, fence, expires_at } = lock;
    const known = Object.entries({ type, id, etag, owner, acquired_at, fence, expires_at });
    return { ...raw, path, ...Object.fromEntries(known.filter(([, value]) => value !== undefined)) };
}
function rowOf({ path, owner = '', expires_at, origin = '' }, now) {
    const end = Date.parse(expires_at ?? '');
    const until = Number.isNaN(end) ? ['', ''] : [(0,_report_words_js__WEBPACK_IMPORTED_MODULE_7__/* .clockTime */ .qo)(end, now), (0,_report_words_js__WEBPACK_IMPORTED_MODULE_7__/* .distance */ .Io)(end, now)];
    return [path, owner, ...until, origin];
}
const annotation = (lock, now) => ({
    file: lock.path,
    title: 'Locked',
    text: `${(0,_locks_messages_js__WEBPACK_IMPORTED_MODULE_3__/* .heldText */ .Dx)(lock.path, lock, now)}.`,
});
function sentenceOf({ locks, ignored, incomplete }, where) {
    if (locks.length > 0)
        return `${(0,_report_words_js__WEBPACK_IMPORTED_MODULE_7__/* .count */ .U9)(locks.length, 'lock')} in ${where}.`;
    const apart = ignored > 0 ? `, apart from ${(0,_report_words_js__WEBPACK_IMPORTED_MODULE_7__/* .count */ .U9)(ignored, 'lock')} of ignored owners` : '';
    return incomplete === undefined
        ? `Nothing is locked in ${where}${apart}.`
        : `No lock was seen in ${where}${apart}, but not all of them could be read.`;
}
function failuresOf({ locks, incomplete }) {
    if (locks.length > 0) {
        return [`${(0,_report_words_js__WEBPACK_IMPORTED_MODULE_7__/* .count */ .U9)(locks.length, 'file is', 'files are')} locked, and \`fail-if-locked\` is set.`];
    }
    return incomplete === undefined
        ? []
        : [`${incomplete} With \`fail-if-locked\`, a file passes only if it is known not to be locked.`];
}
async function listLocks(context, task) {
    const { client, log, redact } = context;
    const { workspace, scope, ignoredOwners, failIfLocked } = task;
    const extent = await extentOf(scope, context);
    const within = (0,_context_js__WEBPACK_IMPORTED_MODULE_1__/* .defaultLimits */ .MK)(context);
    const { paths, among } = await pathsOf(extent, context, within);
    const { items, incomplete } = paths === undefined
        ? await client.listLocks({ workspace }, within)
        : await (0,_locks_lookup_js__WEBPACK_IMPORTED_MODULE_2__/* .listOnPaths */ .cP)(client, workspace, paths, within);
    if (incomplete !== undefined)
        log.warn(incomplete);
    const locks = items.filter(({ owner }) => owner === undefined || !ignoredOwners.includes(owner)).sort(_outcome_js__WEBPACK_IMPORTED_MODULE_4__/* .byPath */ .f2);
    const found = { locks, ignored: items.length - locks.length, incomplete };
    const now = client.serverNow();
    const sentence = sentenceOf(found, `${workspace}${among}`);
    log.group(sentence, locks.map((lock) => (0,_locks_messages_js__WEBPACK_IMPORTED_MODULE_3__/* .heldText */ .Dx)(lock.path, lock, now)));
    const failures = failIfLocked ? failuresOf(found) : [];
    const known = locks.length > 0 ? { status: 'locked' } : failures.length === 0 ? { status: 'free' } : {};
    return {
        outputs: { ...known, count: String(locks.length), locks: (0,_report_redact_js__WEBPACK_IMPORTED_MODULE_6__/* .redactedJson */ .Rh)(locks.map(asOutput), redact) },
        sentence,
        tables: [{ head: ['Path', 'Holder', 'Until', '', 'Taken by'], rows: locks.map((lock) => rowOf(lock, now)) }],
        failures,
        annotations: failIfLocked ? locks.map((lock) => annotation(lock, now)) : [],
    };
}


/***/ }),

/***/ 5340:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  L: () => (/* binding */ resolvePaths)
});

// EXTERNAL MODULE: external "node:fs"
var external_node_fs_ = __webpack_require__(3024);
// EXTERNAL MODULE: external "node:path"
var external_node_path_ = __webpack_require__(6760);
// EXTERNAL MODULE: ./build/bundle/compiled/interface/lock-path.js
var lock_path = __webpack_require__(5860);
// EXTERNAL MODULE: ./build/bundle/compiled/interface/parsed.js
var parsed = __webpack_require__(9296);
// EXTERNAL MODULE: ./build/bundle/compiled/action/inputs/reader.js
var reader = __webpack_require__(5401);
// EXTERNAL MODULE: ./build/bundle/compiled/action/outcome.js
var outcome = __webpack_require__(8776);
;// CONCATENATED MODULE: ./build/bundle/compiled/action/paths/pattern-cost.js
const maxLength = 1_024;
const maxStarsInSegment = 3;
const maxAlternatives = 256;
const innermostBraces = /\{([^{}]*)\}/;
function rangeSize(text) {
    const [, from, to] = /^(-?\d{1,15})\.\.(-?\d{1,15})(?:\.\.-?\d{1,15})?$/.exec(text) ?? [];
    return from === undefined || to === undefined ? undefined : Math.abs(Number(to) - Number(from)) + 1;
}
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
const repeatedGroup = /[*+]\([^)]*[|*+?(]/;
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







const isFile = (path) => external_node_fs_.promises.stat(path).then((entry) => entry.isFile(), () => false);
const inUrlOrder = (path) => (external_node_path_.sep === '\\' ? path.replaceAll('\\', '/') : path);
const standsForFile = async (entry) => entry.isFile() || (entry.isSymbolicLink() && (await isFile((0,external_node_path_.join)(entry.parentPath, entry.name))));
async function matchingFiles(pattern, checkout) {
    const found = new Set();
    for (const spelling of new Set([pattern, pattern.normalize('NFC'), pattern.normalize('NFD')])) {
        for await (const entry of external_node_fs_.promises.glob(spelling, { cwd: checkout, withFileTypes: true })) {
            if (await standsForFile(entry))
                found.add(inUrlOrder((0,external_node_path_.relative)(checkout, (0,external_node_path_.join)(entry.parentPath, entry.name))));
        }
    }
    return [...found].sort();
}
const isInCheckout = async (path, checkout) => (await isFile((0,external_node_path_.join)(checkout, path))) || (await isFile((0,external_node_path_.join)(checkout, path.normalize('NFD'))));
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
        problems.push('Input `path` names no path: the lines with "!" remove everything the other lines name.');
    }
    if (problems.length > 0)
        throw new outcome/* InputError */.dz(problems);
    return [...chosen].map(([path, kind]) => ({ kind, path }));
}


/***/ })

};
