export const id = 213;
export const ids = [213];
export const modules = {

/***/ 6504:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   k: () => (/* binding */ readJobLocks)
/* harmony export */ });
/* unused harmony export historyOf */
/* harmony import */ var _interface_lock_path_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(5860);

function isAbout({ etag, id }, lock) {
    if (etag !== undefined && lock.etag !== undefined)
        return etag === lock.etag;
    if (id !== undefined && lock.id !== undefined)
        return id === lock.id;
    return true;
}
const keyOf = ({ service, workspace, path }) => JSON.stringify([service, workspace, path]);
function historyOf(entries) {
    const unclear = new Map();
    const held = new Map();
    const grants = new Map();
    const endings = new Map();
    const stepNames = new Map();
    function locksAt(address) {
        const key = keyOf(address);
        const locks = held.get(key) ?? new Map();
        held.set(key, locks);
        return locks;
    }
    for (const entry of entries) {
        switch (entry.kind) {
            case 'plan':
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
    const isHere = (entry) => entry.service === service && entry.workspace === workspace;
    const { held, stepNames } = historyOf(entries);
    const byPath = new Map();
    for (const lock of held) {
        const path = (0,_interface_lock_path_js__WEBPACK_IMPORTED_MODULE_0__/* .parseLockPath */ .Ix)(lock.grant.path);
        if (path.ok && isHere(lock.grant))
            byPath.set(path.value, lock);
    }
    return {
        held: byPath,
        planned: new Set(entries.flatMap((entry) => (entry.kind === 'plan' && isHere(entry) ? entry.paths : []))),
        stepNames,
        damaged: damaged > 0,
    };
}


/***/ }),

/***/ 2982:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   H: () => (/* binding */ inParallel)
/* harmony export */ });
const parallelRequests = 16;
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

/***/ 3850:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   nn: () => (/* binding */ isProven),
/* harmony export */   td: () => (/* binding */ cleanupLimits),
/* harmony export */   x_: () => (/* binding */ releaseLock)
/* harmony export */ });
/* harmony import */ var _retry_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(7138);
/* harmony import */ var _lookup_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(3981);
/* harmony import */ var _ownership_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(9706);



const isProven = ({ etag, id }) => etag !== undefined || id !== undefined;
const firstPauseMs = 500;
const maxPauseMs = 5_000;
const never = new AbortController().signal;
function mayBeDone({ failure, status, attempts }) {
    if (failure.kind === 'connection')
        return failure.mayHaveArrived;
    if (failure.kind === 'deadline')
        return attempts > 0;
    return status === undefined || status >= 500 || (status >= 200 && status < 300);
}
async function releaseUnproven({ client, clock, sleep, random }, request, { lock, doubtful }, within) {
    const { workspace, path, force } = request;
    let sent = false;
    for (let failed = 1;; failed += 1) {
        const found = await (0,_lookup_js__WEBPACK_IMPORTED_MODULE_1__/* .lookUp */ .TE)(client, request, within);
        if (found.kind === 'failed')
            return found;
        const ownership = found.kind === 'locked' ? (0,_ownership_js__WEBPACK_IMPORTED_MODULE_2__/* .compare */ .UD)(lock, found.lock) : found.kind;
        if (ownership === 'lost') {
            return sent ? { kind: 'released' } : { kind: 'lost', holder: found.kind === 'locked' ? found.lock : undefined };
        }
        const unsure = doubtful || sent || (0,_ownership_js__WEBPACK_IMPORTED_MODULE_2__/* .isOver */ .PU)(lock, client.serverNow());
        if (ownership === 'absent' && unsure)
            return { kind: sent ? 'released' : 'absent' };
        if (ownership === 'unknown' && unsure)
            return { kind: 'left-alone' };
        const result = await client.releaseLock({ workspace, path, force, attempts: 'once' }, within);
        if (result.kind !== 'failed')
            return result.kind === 'absent' && sent ? { kind: 'released' } : result;
        const { error } = result;
        sent ||= mayBeDone(error);
        const pauseMs = Math.min(maxPauseMs, firstPauseMs * 2 ** failed) * (0.5 + random() / 2);
        if (!(0,_retry_js__WEBPACK_IMPORTED_MODULE_0__/* .isTransient */ .dg)(error) || clock() + pauseMs >= within.deadline)
            return result;
        await sleep(pauseMs, within.signal ?? never);
    }
}
function judgeByLook(before, after, error) {
    if (before.kind !== 'locked')
        return { kind: 'unclear', error };
    if (after.kind === 'absent')
        return { kind: 'released' };
    if (after.kind !== 'locked')
        return { kind: 'unclear', error };
    switch ((0,_ownership_js__WEBPACK_IMPORTED_MODULE_2__/* .compare */ .UD)(before.lock, after.lock)) {
        case 'lost':
            return { kind: 'released' };
        case 'ours':
            return { kind: 'failed', error };
        case 'unknown':
            return { kind: 'unclear', error };
    }
}
async function releaseFound({ client }, request, { found }, within) {
    const { workspace, path, force } = request;
    if (found.kind === 'absent')
        return found;
    const result = await client.releaseLock({ workspace, path, force, attempts: 'once' }, within);
    if (result.kind !== 'failed' || !mayBeDone(result.error))
        return result;
    return judgeByLook(found, await (0,_lookup_js__WEBPACK_IMPORTED_MODULE_1__/* .lookUp */ .TE)(client, request, within), result.error);
}
function send(context, request, within) {
    const { workspace, path, target, force } = request;
    const proof = lockOf(target);
    if (isProven(proof))
        return context.client.releaseLock({ workspace, path, proof, force }, within);
    return target.kind === 'own'
        ? releaseUnproven(context, request, target, within)
        : releaseFound(context, request, target, within);
}
const lockOf = (target) => {
    if (target.kind === 'own')
        return target.lock;
    return target.found.kind === 'locked' ? target.found.lock : {};
};
async function releaseLock(context, request, within) {
    const { service, workspace, path, target } = request;
    const { client, record } = context;
    const { id, etag } = lockOf(target);
    const entry = { service, workspace, path, id, etag };
    const now = () => new Date(client.serverNow()).toISOString();
    if (target.kind === 'own' || target.found.kind !== 'absent')
        record({ kind: 'releasing', ...entry, at: now() });
    const result = await send(context, request, within);
    switch (result.kind) {
        case 'released':
        case 'absent':
            record({ kind: 'ended', ...entry, how: result.kind, at: now() });
            break;
        case 'lost':
            record({ kind: 'ended', ...entry, how: target.kind === 'own' ? 'lost' : 'absent', at: now() });
            break;
        case 'left-alone':
        case 'unclear':
        case 'failed':
            break;
    }
    return result;
}
const afterCancelMs = 3_500;
function cleanupLimits(clock, timeMs, cancelled) {
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
        deadline: clock() + timeMs,
        signal: late.signal,
        lift() {
            cancelled.removeEventListener('abort', hurry);
            clearTimeout(timer);
        },
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


/***/ }),

/***/ 7138:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   dg: () => (/* binding */ isTransient),
/* harmony export */   sT: () => (/* binding */ retryAfterOf),
/* harmony export */   wS: () => (/* binding */ lastAttemptMs)
/* harmony export */ });
/* harmony import */ var _client_client_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(2683);

function isTransient({ failure, status }) {
    if (failure.kind === 'aborted')
        return false;
    if (status !== undefined)
        return (0,_client_client_js__WEBPACK_IMPORTED_MODULE_0__/* .isTransientStatus */ .Dm)(status);
    return (failure.kind === 'deadline' || failure.kind === 'timeout' || (failure.kind === 'connection' && !failure.untrusted));
}
function retryAfterOf({ failure }) {
    return failure.kind === 'deadline' || failure.kind === 'refused' ? failure.retryAfterMs : undefined;
}
const minLastAttemptMs = 300;
const maxLastAttemptMs = 5_000;
const lastAttemptMs = (previousTookMs) => Math.min(maxLastAttemptMs, Math.max(minLastAttemptMs, 2 * previousTookMs));


/***/ })

};
