export const id = 28;
export const ids = [28];
export const modules = {

/***/ 379:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   W: () => (/* binding */ isPassing)
/* harmony export */ });
/* unused harmony export askedToWaitMs */
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


/***/ }),

/***/ 647:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   J: () => (/* binding */ answerClockMs),
/* harmony export */   f: () => (/* binding */ pastMoment)
/* harmony export */ });
/* harmony import */ var _report_words_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(46);

/** Answers carry the time of the service in whole seconds, so that by it a moment ago can lie ahead. */
const answerClockMs = 1_000;
/** "14:05 UTC (3 min ago)", of something that has happened. */
const pastMoment = (time, now) => (0,_report_words_js__WEBPACK_IMPORTED_MODULE_0__/* .moment */ .n$)(time, Math.max(now, time + 1));


/***/ }),

/***/ 28:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  endStep: () => (/* binding */ endStep)
});

// EXTERNAL MODULE: ./build/bundle/compiled/interface/parsed.js
var parsed = __webpack_require__(296);
// EXTERNAL MODULE: external "node:net"
var external_node_net_ = __webpack_require__(30);
;// CONCATENATED MODULE: ./build/bundle/compiled/action/inputs/base-url.js


function isLoopback(hostname) {
    if (hostname === 'localhost' || hostname.endsWith('.localhost'))
        return true;
    const address = hostname.replace(/^\[|\]$/g, '');
    const loopback = new external_node_net_.BlockList();
    loopback.addSubnet('127.0.0.0', 8);
    loopback.addAddress('::1', 'ipv6');
    const version = (0,external_node_net_.isIP)(address);
    return version !== 0 && loopback.check(address, version === 6 ? 'ipv6' : 'ipv4');
}
/** The address of the service's interface, without a slash at its end. */
function parseBaseUrl(text, allowHttp) {
    const url = URL.parse(text);
    if (url === null)
        return (0,parsed/* refused */.J)('It has to be an address such as https://workspaces.example.com/v1.');
    if (url.username !== '' || url.password !== '') {
        return (0,parsed/* refused */.J)('It must not hold a user name or a password: the token is sent in a header.');
    }
    if (text.includes('?') || text.includes('#'))
        return (0,parsed/* refused */.J)('It must not have a query or a fragment.');
    if (url.protocol !== 'https:' && url.protocol !== 'http:')
        return (0,parsed/* refused */.J)('It has to begin with https://.');
    if (url.protocol === 'http:' && !allowHttp && !isLoopback(url.hostname)) {
        return (0,parsed/* refused */.J)('Plain http would show the token to everybody on the way. Use https, or set `allow-http: true` if the network is yours alone.');
    }
    const address = url.href.replace(/(?<!\/)\/+$/, '');
    if (!address.endsWith('/v1'))
        return (0,parsed/* refused */.J)('It has to end in the version of the interface, /v1.');
    return (0,parsed/* accepted */.q)(address);
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/inputs/reader.js
/** Values that are never repeated, however wrong they are. */
const secret = new Set(['token', 'hook-secret', 'hook-options', 'github-token', 'locks']);
const longestShown = 200;
/** Of an address what stands before an @, and from the query on, is often a credential. */
const withoutCredentials = (text) => text.replace(/^.*@/s, '***@').replace(/([?#]).+$/s, (_, mark) => `${mark}***`);
const addresses = new Set(['base-url', 'hook-url']);
const quoted = (text) => JSON.stringify(text.length > longestShown ? `${text.slice(0, longestShown)}…` : text);
function theInput(name, text) {
    if (text === '')
        return `Input \`${name}\` is missing.`;
    if (secret.has(name))
        return `Input \`${name}\` is not valid.`;
    return `Input \`${name}\` is ${quoted(addresses.has(name) ? withoutCredentials(text) : text)}.`;
}
/** What is wrong with one line of an input that has several. */
const lineProblem = (name, line, why) => `Input \`${name}\` has the line ${quoted(line)}. ${why}`;
function createReader(raw) {
    const problems = [];
    const complain = (name, why) => {
        problems.push(`${theInput(name, raw[name])} ${why}`);
    };
    return {
        raw,
        problems,
        complain,
        complainOfLine: (name, line, why) => void problems.push(lineProblem(name, line, why)),
        read(name, parse) {
            const parsed = parse(raw[name]);
            if (parsed.ok)
                return parsed.value;
            complain(name, parsed.why);
            return undefined;
        },
    };
}
/** The fields together, once none of them is wrong. */
function complete(fields) {
    // What is left has no undefined: that is what every field is looked at for.
    return Object.values(fields).includes(undefined) ? undefined : fields;
}

// EXTERNAL MODULE: ./build/bundle/compiled/action/inputs/values.js
var values = __webpack_require__(960);
;// CONCATENATED MODULE: ./build/bundle/compiled/action/inputs/connection.js




const parseToken = (text) => (0,values/* isToken */.sg)(text)
    ? (0,parsed/* accepted */.q)(text)
    : (0,parsed/* refused */.J)('It has to be an API token of the service, in one piece: give it from a secret.');
function readConnection({ read }) {
    const allowHttp = read('allow-http', values/* parseBoolean */.yG);
    return complete({
        // A wrong allow-http is told by itself; what it would have allowed is not held against the address.
        baseUrl: read('base-url', (text) => parseBaseUrl(text, allowHttp ?? true)),
        token: read('token', parseToken),
        requestTimeout: read('request-timeout', (0,values/* parseDurationBetween */.GE)({ seconds: 1 }, { seconds: 3_600 })),
        retries: read('retries', (0,values/* parseWholeNumber */.oA)(100)),
    });
}

// EXTERNAL MODULE: ./build/bundle/compiled/action/inputs/table.js
var table = __webpack_require__(332);
// EXTERNAL MODULE: ./build/bundle/compiled/action/ledger/ledger.js
var ledger_ledger = __webpack_require__(463);
// EXTERNAL MODULE: ./build/bundle/compiled/action/report/safe-text.js
var safe_text = __webpack_require__(872);
// EXTERNAL MODULE: external "node:os"
var external_node_os_ = __webpack_require__(161);
// EXTERNAL MODULE: external "node:path"
var external_node_path_ = __webpack_require__(760);
;// CONCATENATED MODULE: ./build/bundle/compiled/action/runner-place.js



function originOf(environment) {
    const server = environment['GITHUB_SERVER_URL'];
    const repository = environment['GITHUB_REPOSITORY'];
    const run = environment['GITHUB_RUN_ID'];
    if (!server || !repository || !run)
        return undefined;
    const attempt = environment['GITHUB_RUN_ATTEMPT'];
    return `${server}/${repository}/actions/runs/${run}${attempt ? `/attempts/${attempt}` : ''}`;
}
function runnerPlace(environment) {
    const temporary = environment['RUNNER_TEMP'] || (0,external_node_os_.tmpdir)();
    return {
        checkout: environment['GITHUB_WORKSPACE'] || process.cwd(),
        ledger: (0,ledger_ledger/* ledgerFile */.SB)(temporary),
        locksFile: (step) => (0,external_node_path_.join)(temporary, 'workspace-automation', `locks-${step}.json`),
        origin: originOf(environment),
        stepName: environment['GITHUB_ACTION'] || undefined,
        github: {
            event: environment['GITHUB_EVENT_NAME'] ?? '',
            eventFile: environment['GITHUB_EVENT_PATH'] ?? '',
            repository: environment['GITHUB_REPOSITORY'] ?? '',
            apiUrl: environment['GITHUB_API_URL'] ?? '',
        },
    };
}

// EXTERNAL MODULE: external "node:fs"
var external_node_fs_ = __webpack_require__(24);
// EXTERNAL MODULE: ./build/bundle/compiled/interface/lock-path.js
var lock_path = __webpack_require__(860);
// EXTERNAL MODULE: ./build/bundle/compiled/action/ledger/entry.js + 1 modules
var entry = __webpack_require__(818);
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

// EXTERNAL MODULE: ./build/bundle/compiled/action/report/words.js
var words = __webpack_require__(46);
;// CONCATENATED MODULE: ./build/bundle/compiled/action/post-step/claims.js





function locksIn(file) {
    try {
        const locks = JSON.parse((0,external_node_fs_.readFileSync)(file, 'utf8'));
        return Array.isArray(locks) ? locks.filter(entry/* isGrantedLock */.Zv) : [];
    }
    catch {
        return [];
    }
}
/** The locks that the runner has kept, and where these are too many the step's file of them. */
function standIns({ kept, step, locksFile }) {
    if (kept === undefined)
        return [];
    const { service, workspace } = kept;
    return (kept.locks ?? locksIn(locksFile))
        .filter(({ path }) => (0,lock_path/* parseHeldPath */.yo)(path).ok)
        .map((lock) => ({
        kind: 'granted',
        service,
        workspace,
        path: lock.path,
        step,
        at: '',
        key: '',
        waitedMs: 0,
        lock,
    }));
}
function readLedger(ledger) {
    try {
        const { entries, damaged } = ledger.read();
        const lines = damaged === 1 ? 'A line' : (0,words/* count */.U9)(damaged, 'line');
        return { entries, trouble: damaged === 0 ? undefined : `${lines} of the ledger in ${ledger.file} cannot be read.` };
    }
    catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        return { entries: [], trouble: `The ledger of this job's locks cannot be read (${why}).` };
    }
}
const claims_keyOf = ({ path, id, etag, acquired_at }) => JSON.stringify([path, id, etag, acquired_at]);
/**
 * Reads the ledger. Where something of it is missing, what the runner has kept and the step's file of locks stand in.
 * They do not tell what was released since, so that what they name is released only as far as it can be proven.
 */
function readClaims(records) {
    const { ledger, step } = records;
    const { entries, trouble: unreadable } = readLedger(ledger);
    const history = historyOf(entries);
    const held = history.held.filter(({ grant }) => grant.step === step);
    const unclear = history.unclear.filter((intent) => intent.step === step);
    const mentioned = new Set(entries.flatMap((entry) => (entry.kind === 'granted' ? [claims_keyOf(entry.lock)] : [])));
    const missing = standIns(records).filter(({ lock }) => !mentioned.has(claims_keyOf(lock)));
    const begun = entries.some((entry) => entry.kind === 'intent' && entry.step === step);
    const trouble = unreadable ??
        (missing.length > 0 || !begun
            ? `The ledger in ${ledger.file} does not have all that this step has written to it.`
            : undefined);
    if (trouble === undefined) {
        const claims = held.map(({ grant, releaseBegun }) => ({
            grant,
            doubt: releaseBegun ? 'release-begun' : undefined,
        }));
        return { held: claims, unclear, trouble };
    }
    const claims = [...held.map(({ grant }) => grant), ...missing];
    const rest = claims.length + unclear.length > 0
        ? 'What is still known of its locks is released as far as it can be proven.'
        : 'Nothing tells which locks the step has: they stay until their ttl ends.';
    return { held: claims.map((grant) => ({ grant, doubt: 'records-damaged' })), unclear, trouble: `${trouble} ${rest}` };
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/post-step/gantt.js

/** More rows than fit on a screen show nothing: the table beside it has all locks. */
const mostRows = 30;
/** A wait that is too short to be seen would only be a stripe in front of each bar. */
const shortestWaitMs = 1_000;
const longestName = 60;
/**
 * A path as the name of a row. Of all characters only those that mean nothing to Mermaid and cannot end the block of
 * code stay as they are; the table has the path in full.
 */
function nameOf(path) {
    const plain = path.replace(/[^\p{L}\p{M}\p{N} ._/()+=-]/gu, '_');
    const letters = [...plain];
    return letters.length <= longestName ? plain : `…${letters.slice(1 - longestName).join('')}`;
}
function rowOf({ path, asked, granted, ended, released }) {
    const from = Math.round(asked);
    const since = Math.round(granted);
    const until = Math.max(Math.round(ended), since + 1);
    const waited = since - from >= shortestWaitMs ? `    waited :done, ${from}, ${since}\n` : '';
    const held = released ? 'held :active' : 'not released :crit';
    return `    section ${nameOf(path)}\n${waited}    ${held}, ${since}, ${until}\n`;
}
/** Mermaid reads no time before 1970. */
const isDrawable = ({ asked, granted, ended }) => [asked, granted, ended].every((time) => time >= 0 && Number.isFinite(time));
/** A block of Markdown that GitHub draws as a picture of each lock's wait and hold; undefined when there is nothing to draw. */
function gantt(bars) {
    const drawable = bars.filter(isDrawable).toSorted((one, other) => (one.path < other.path ? -1 : 1));
    if (drawable.length === 0)
        return undefined;
    const rows = drawable.slice(0, mostRows).map(rowOf);
    const more = drawable.length - rows.length;
    const rest = more === 0 ? '' : `\nThe picture shows the first ${mostRows} of ${(0,words/* grouped */.zD)(drawable.length)} locks.\n`;
    return `\`\`\`mermaid\ngantt\n    dateFormat x\n    axisFormat %H:%M:%S\n${rows.join('')}\`\`\`\n${rest}`;
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/post-step/picture.js


/** A picture of how long a step waited for its locks and held them; undefined where nothing tells. */
function pictureOf(ledger, { step, without, now, conceal }) {
    let entries;
    try {
        ({ entries } = ledger.read());
    }
    catch {
        return undefined;
    }
    const { grants, endings } = historyOf(entries.filter((entry) => !('key' in entry && without.has(entry.key))));
    const bars = grants
        .filter((grant) => grant.step === step)
        .map((grant) => {
        const granted = Date.parse(grant.at);
        const ending = endings.get(grant);
        return {
            path: conceal(grant.path),
            asked: granted - grant.waitedMs,
            granted,
            ended: ending === undefined ? now : Date.parse(ending.at),
            released: ending !== undefined,
        };
    });
    return gantt(bars);
}

// EXTERNAL MODULE: ./build/bundle/compiled/action/post-step/release-claims.js + 1 modules
var release_claims = __webpack_require__(162);
// EXTERNAL MODULE: ./build/bundle/compiled/action/locks/past-moment.js
var past_moment = __webpack_require__(647);
;// CONCATENATED MODULE: ./build/bundle/compiled/action/locks/holder-text.js


/** "Content/Hero.uasset is held by ada until 14:05 UTC (in 12 min), taken by https://…/runs/1, since 13:05 UTC (48 min ago)". */
function holder_text_heldText(path, holder, now, withStart = false) {
    const parts = [`${path} is held`];
    if (holder?.owner !== undefined)
        parts.push(` by ${holder.owner}`);
    if (holder?.expires_at !== undefined)
        parts.push(` until ${(0,words/* moment */.n$)(Date.parse(holder.expires_at), now)}`);
    if (holder?.origin !== undefined)
        parts.push(`, taken by ${holder.origin}`);
    if (withStart && holder?.acquired_at !== undefined)
        parts.push(`, since ${(0,past_moment/* pastMoment */.f)(Date.parse(holder.acquired_at), now)}`);
    return parts.join('');
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/locks/left-behind.js


/** Of a request without an answer: until when there may be a lock that nobody can show to be theirs. */
const unprovenText = ({ path, ttl, at }) => `Whether ${path} was locked by this step is not known: its request of ${at} had no answer, and the service does not tell now. If it was, that lock ends ${ttl} after it was taken.`;
/** What happened to the locks that were taken before it turned out that not all can be had. */
function backTexts(back, asked, now) {
    const texts = [];
    const had = back.done.length + back.lost.length + back.leftAlone.length + back.failed.length;
    if (had > 0) {
        texts.push(`Of ${count(asked, 'path')}, ${grouped(had)} had been locked; ${grouped(back.done.length)} given back.`);
    }
    for (const { grant, error } of back.failed) {
        texts.push(`The lock on ${grant.path} could not be given back and stays until ${clockTime(Date.parse(grant.lock.expires_at), now)}, unless the end of the job can release it: ${error.message}`);
    }
    for (const { grant, holder } of back.lost) {
        texts.push(`The lock on ${grant.path} was lost before it could be given back. ${heldText(grant.path, holder, now)}.`);
    }
    for (const { path } of back.leftAlone) {
        texts.push(`The lock on ${path} may have ended meanwhile, and the service gave nothing to tell it from another: what is there now has been left alone.`);
    }
    return texts;
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/post-step/by-hand.js


/** As one word of a shell, whatever is in it. */
const by_hand_quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
/** What releases the lock without this action. The token is not shown: whoever does it has one. */
function byHand(grant) {
    const { service, lock } = grant;
    const { workspace, path } = (0,entry/* addressIn */._Q)(grant);
    const tag = lock.etag ?? (lock.id === undefined ? undefined : `"${lock.id}"`);
    const condition = tag === undefined ? '' : ` -H ${by_hand_quoted(`If-Match: ${tag}`)}`;
    const address = `${service}/workspaces/${encodeURIComponent(workspace)}/locks/${(0,lock_path/* asOneSegment */.IH)(path)}`;
    return `curl -X DELETE -H 'Authorization: Bearer <API_TOKEN>'${condition} ${by_hand_quoted(address)}`;
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/post-step/told.js





const told_words = {
    released: 'released',
    gone: 'was gone already',
    lost: 'lost to another holder',
    replaced: 'held by somebody else now, left alone',
    'left-alone': 'not to be told from the lock of somebody else, left alone',
    failed: 'not released',
    unproven: 'not known to be ours, left alone',
    'never-granted': 'was never granted',
};
/** What a person has to look at first. */
const order = [
    'lost',
    'failed',
    'replaced',
    'left-alone',
    'unproven',
    'gone',
    'released',
    'never-granted',
];
const ofKind = (settled, kind) => 
// The filter makes them of this kind, which the compiler cannot follow through a type parameter.
settled.filter((one) => one.kind === kind);
const pathOf = (settled) => ('grant' in settled ? settled.grant.path : settled.intent.path);
const endOf = (settled) => 'grant' in settled ? Date.parse(settled.grant.lock.expires_at) : Number.NaN;
const isOver = (settled, now) => endOf(settled) <= now + past_moment/* answerClockMs */.J;
const untilText = (settled, now) => {
    const end = endOf(settled);
    if (Number.isNaN(end))
        return '';
    return isOver(settled, now) ? `its lifetime ended at ${(0,past_moment/* pastMoment */.f)(end, now)}` : `held until ${(0,words/* moment */.n$)(end, now)}`;
};
/** A warning is read in the margin of a run: a few locks by name, and where the others are. */
const mostNamed = 5;
function several(all, text) {
    const more = all.length - mostNamed;
    const rest = more > 0 ? ` And ${(0,words/* count */.U9)(more, 'more', 'more')}: see the log of the step.` : '';
    return all.slice(0, mostNamed).map(text).join(' ') + rest;
}
function lostText(lost, now) {
    const { grant, holder } = lost;
    const end = endOf(lost);
    const had = isOver(lost, now) || end <= Date.parse(holder?.acquired_at ?? '');
    const when = had
        ? ` It had ended at ${(0,past_moment/* pastMoment */.f)(end, now)}; a longer \`ttl\` would have kept it.`
        : ' Somebody had released it before its end.';
    return `The lock on ${grant.path} was lost while the job counted on it.${when} ${holder_text_heldText(grant.path, holder, now, true)}; that lock has been left alone.`;
}
function failedText(failed, now) {
    const [first] = failed;
    const itself = failed.length === 1 ? 'ends by itself' : 'end by themselves';
    const each = several(failed, (one) => {
        const { path, lock } = one.grant;
        const about = [lock.id === undefined ? '' : `id ${lock.id}`, untilText(one, now)].filter((text) => text !== '');
        return `${path}${about.length > 0 ? ` (${about.join(', ')})` : ''}: ${byHand(one.grant)}.`;
    });
    return `${(0,words/* count */.U9)(failed.length, 'lock')} could not be released, and ${itself}. ${first?.why ?? ''} To release by hand: ${each}`;
}
const replacedText = (replaced, now) => several(replaced, ({ grant, holder }) => `${holder_text_heldText(grant.path, holder, now, true)}, and is left alone: whether the job had released its own lock before is not known.`);
const leftAloneText = (left, now) => several(left, (one) => `The service gave nothing to tell the lock on ${one.grant.path} from another (${untilText(one, now)}): what is there now has been left alone.`);
function overText(over, now) {
    const each = several(over, (one) => `The lock on ${one.grant.path} had ended at ${(0,past_moment/* pastMoment */.f)(endOf(one), now)}, before the job did.`);
    return `${each} A longer \`ttl\` would have kept what the job counted on.`;
}
function warningsOf(settled, now) {
    const failed = ofKind(settled, 'failed');
    const replaced = ofKind(settled, 'replaced');
    const left = ofKind(settled, 'left-alone');
    const unproven = ofKind(settled, 'unproven');
    const over = ofKind(settled, 'gone').filter((one) => isOver(one, now));
    return [
        ...(failed.length > 0 ? [failedText(failed, now)] : []),
        ...(replaced.length > 0 ? [replacedText(replaced, now)] : []),
        ...(left.length > 0 ? [leftAloneText(left, now)] : []),
        ...(unproven.length > 0 ? [several(unproven, ({ intent, why }) => `${unprovenText(intent)} ${why}`)] : []),
        ...(over.length > 0 ? [overText(over, now)] : []),
    ];
}
function lineOf(settled, now) {
    const id = 'grant' in settled ? settled.grant.lock.id : undefined;
    const details = settled.kind === 'failed' ? [untilText(settled, now), id && `id ${id}`].filter(Boolean).join(', ') : '';
    return `${pathOf(settled)}: ${told_words[settled.kind]}${details === '' ? '' : ` (${details})`}`;
}
const nothingLeft = 'Nothing was left to release at the end of the job.';
/** What people are told of the end of a job's locks. */
function tell(settled, { picture, now, onLost }) {
    const sorted = settled.toSorted((one, other) => order.indexOf(one.kind) - order.indexOf(other.kind) || (pathOf(one) < pathOf(other) ? -1 : 1));
    const released = ofKind(settled, 'released').length;
    const lost = ofKind(sorted, 'lost');
    const others = order
        .filter((kind) => kind !== 'released' && kind !== 'never-granted')
        .map((kind) => [ofKind(settled, kind).length, told_words[kind]])
        .filter(([number]) => number > 0)
        .map(([number, word]) => `, ${(0,words/* grouped */.zD)(number)} ${word}`);
    return {
        sentence: settled.length === 0
            ? nothingLeft
            : `Released ${(0,words/* count */.U9)(released, 'lock')} at the end of the job${others.join('')}.`,
        table: {
            head: ['Path', 'Result', 'Ends', 'Id'],
            rows: sorted.map((one) => [
                pathOf(one),
                told_words[one.kind],
                Number.isNaN(endOf(one)) ? '' : (0,words/* clockTime */.qo)(endOf(one), now),
                'grant' in one ? (one.grant.lock.id ?? '') : '',
            ]),
        },
        picture,
        failures: onLost === 'fail' ? lost.map((one) => lostText(one, now)) : [],
        warnings: [
            ...(onLost === 'warn' && lost.length > 0 ? [several(lost, (one) => lostText(one, now))] : []),
            ...warningsOf(sorted, now),
        ],
        lines: sorted.map((one) => lineOf(one, now)),
    };
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/post-step/end-step.js











function cancellation() {
    const cancelled = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM'])
        process.on(signal, () => cancelled.abort());
    return cancelled.signal;
}
/** The step's own word, else the input as it is now, else what is safe: a wrong one was told by the step itself. */
function lossReaction(saved, input) {
    const [first] = [saved, input].map(values/* parseLossReaction */.mA).filter((parsed) => parsed.ok);
    return first?.value ?? 'fail';
}
/**
 * Releases what a step has left, and tells what became of all its locks. What they are is in the ledger. Of the inputs
 * only counts how to reach the service: the runner evaluates their expressions anew, and the others may have changed.
 */
async function endStep({ step, kept, onLost, secrets, reporter, environment }) {
    const { log } = reporter;
    const cancelled = cancellation();
    const conceal = (0,safe_text/* createRedactor */.lY)(secrets);
    const place = runnerPlace(environment);
    const ledger = (0,ledger_ledger/* openLedger */.au)(place.ledger, conceal);
    const claims = readClaims({ ledger, step, locksFile: place.locksFile(step), kept });
    if (claims.trouble !== undefined)
        log.warn(claims.trouble);
    const nothing = claims.held.length === 0 && claims.unclear.length === 0;
    if (nothing && kept === undefined) {
        if (claims.trouble === undefined)
            log.line(nothingLeft);
        return;
    }
    const raw = (0,table/* readRawInputs */.yI)(environment);
    const reader = createReader(raw);
    const connection = readConnection(reader);
    async function settle() {
        const now = Date.now();
        if (nothing)
            return { settled: [], now };
        if (connection === undefined)
            return { settled: (0,release_claims/* unreleased */.r)(claims, reader.problems.join(' ')), now };
        const { release } = await __webpack_require__.e(/* import() */ 47).then(__webpack_require__.bind(__webpack_require__, 47));
        return release({ connection, claims, ledger, step, origin: place.origin, log, cancelled });
    }
    const { settled, now } = await settle();
    const without = new Set(settled.flatMap((one) => (one.kind === 'never-granted' ? [one.intent.key] : [])));
    const picture = pictureOf(ledger, { step, without, now, conceal });
    // A summary input that is wrong was told by the step itself; here it only means the default.
    const summary = (0,values/* parseBoolean */.yG)(raw.summary);
    const told = tell(settled, { picture, now, onLost: lossReaction(onLost, raw['on-lost']) });
    reporter.tellRelease(told, !summary.ok || summary.value);
}


/***/ }),

/***/ 162:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  p: () => (/* binding */ releaseClaims),
  r: () => (/* binding */ unreleased)
});

// EXTERNAL MODULE: ./build/bundle/compiled/action/ledger/entry.js + 1 modules
var entry = __webpack_require__(818);
;// CONCATENATED MODULE: ./build/bundle/compiled/action/locks/in-parallel.js
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

// EXTERNAL MODULE: ./build/bundle/compiled/action/locks/passing.js
var passing = __webpack_require__(379);
;// CONCATENATED MODULE: ./build/bundle/compiled/action/post-step/release-claims.js



const lostOr = (claim, holder) => {
    const { grant, doubt } = claim;
    switch (doubt) {
        case undefined:
            return { kind: 'lost', grant, holder };
        case 'release-begun':
            return { kind: 'gone', grant };
        case 'records-damaged':
            return { kind: 'replaced', grant, holder };
    }
};
/** The token that the step has now is for the service that it names now, and goes to no other. */
const elsewhere = (service, now) => `It is on ${service}, and \`base-url\` (or WORKSPACE_BASE_URL) names ${now} by now.`;
/** Where nothing can be asked of the service. */
const unreleased = ({ held, unclear }, why) => [
    ...held.map(({ grant }) => ({ kind: 'failed', grant, why })),
    ...unclear.map((intent) => ({ kind: 'unproven', intent, why })),
];
const firstPauseMs = 1_000;
const maxPauseMs = 8_000;
const never = new AbortController().signal;
/** What would block others for longest comes first; what tells no end, last. */
const longestFirst = (all, endOf) => all.toSorted((one, other) => (endOf(other) || 0) - (endOf(one) || 0));
const endOfClaim = ({ grant }) => Date.parse(grant.lock.expires_at);
const endOfIntent = (intent) => Date.parse(intent.at) + (0,entry/* ttlIn */.eg)(intent).seconds * 1_000;
const untried = (all) => new Map(all.map((one) => [one, undefined]));
/** Releases what can be shown to be ours, in parallel, and tries again for as long as there is time. */
async function releaseClaims({ keeper, clock, sleep, random }, service, { held, unclear, trouble }, within) {
    const settled = [];
    /** A try before may have released what is tried again, and its answer been lost. */
    let releaseBegun;
    async function release(claim) {
        const { grant, doubt = releaseBegun } = claim;
        if (grant.service !== service) {
            return { settled: { kind: 'failed', grant, why: elsewhere(grant.service, service) } };
        }
        const end = await keeper.giveBack(grant, within, doubt !== undefined);
        switch (end.kind) {
            case 'released':
                return { settled: { kind: 'released', grant } };
            case 'absent':
                return { settled: { kind: 'gone', grant } };
            case 'lost':
                return { settled: lostOr({ grant, doubt }, end.holder) };
            case 'left-alone':
                return { settled: { kind: 'left-alone', grant } };
            case 'failed':
                return { settled: { kind: 'failed', grant, why: end.error.message }, error: end.error };
        }
    }
    async function clearUp(intent) {
        if (intent.service !== service) {
            return { settled: { kind: 'unproven', intent, why: elsewhere(intent.service, service) } };
        }
        const taking = await keeper.ask(intent, true, within);
        switch (taking.kind) {
            case 'taken': {
                // With damaged records, the service may remember an answer about a lock that was released long ago.
                const doubt = trouble === undefined ? releaseBegun : 'records-damaged';
                const end = await release({ grant: taking.grant, doubt });
                const neverGranted = end.settled.kind === 'released' && taking.anew === true;
                return neverGranted ? { settled: { kind: 'never-granted', intent } } : end;
            }
            case 'held':
                return { settled: { kind: 'never-granted', intent } };
            case 'failed':
            case 'unclear':
                return { settled: { kind: 'unproven', intent, why: taking.error.message }, error: taking.error };
        }
    }
    /** Gives what is worth another try, with what is to be told of it if there is none. */
    async function tryAll(all, work) {
        const again = new Map();
        await inParallel([...all], async ([one, before]) => {
            const tried = await work(one);
            const { error } = tried;
            if (error === undefined || !(0,passing/* isPassing */.W)(error))
                settled.push(tried.settled);
            // Cut off by the end, the last of many attempts says less than those before it.
            else
                again.set(one, before !== undefined && before.error.attempts > error.attempts ? before : { ...tried, error });
        });
        return again;
    }
    let claims = untried(longestFirst(held, endOfClaim));
    let intents = untried(longestFirst(unclear, endOfIntent));
    for (let pauseMs = firstPauseMs;; pauseMs = Math.min(maxPauseMs, 2 * pauseMs)) {
        const failedClaims = await tryAll(claims, release);
        const failedIntents = await tryAll(intents, clearUp);
        const failed = [...failedClaims.values(), ...failedIntents.values()];
        const pause = pauseMs * (0.5 + random() / 2);
        const isOver = within.signal?.aborted === true || clock() + pause >= within.deadline;
        if (failed.length === 0 || isOver)
            return [...settled, ...failed.map((one) => one.settled)];
        claims = failedClaims;
        intents = failedIntents;
        releaseBegun = 'release-begun';
        await sleep(pause, within.signal ?? never);
    }
}


/***/ })

};
