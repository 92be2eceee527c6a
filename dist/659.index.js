export const id = 659;
export const ids = [659];
export const modules = {

/***/ 1659:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   MK: () => (/* binding */ defaultLimits),
/* harmony export */   createContext: () => (/* binding */ createContext),
/* harmony export */   zh: () => (/* binding */ logRetries)
/* harmony export */ });
/* unused harmony exports readRunner, cancellation, connect */
/* harmony import */ var node_os__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(8161);
/* harmony import */ var _client_client_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(2683);
/* harmony import */ var _interface_duration_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(4393);
/* harmony import */ var _ledger_ledger_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(2463);
/* harmony import */ var _report_words_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(1046);
/* harmony import */ var _version_js__WEBPACK_IMPORTED_MODULE_5__ = __webpack_require__(4596);






function originOf(environment) {
    const server = environment['GITHUB_SERVER_URL'];
    const repository = environment['GITHUB_REPOSITORY'];
    const run = environment['GITHUB_RUN_ID'];
    if (!server || !repository || !run)
        return undefined;
    const attempt = environment['GITHUB_RUN_ATTEMPT'];
    return `${server}/${repository}/actions/runs/${run}${attempt ? `/attempts/${attempt}` : ''}`;
}
const readRunner = (environment) => ({
    checkout: environment['GITHUB_WORKSPACE'] || process.cwd(),
    temporaryFolder: environment['RUNNER_TEMP'] || (0,node_os__WEBPACK_IMPORTED_MODULE_0__.tmpdir)(),
    origin: originOf(environment),
    stepName: environment['GITHUB_ACTION'] || undefined,
    event: {
        name: environment['GITHUB_EVENT_NAME'] ?? '',
        file: environment['GITHUB_EVENT_PATH'] ?? '',
        repository: environment['GITHUB_REPOSITORY'] ?? '',
        apiUrl: environment['GITHUB_API_URL'] ?? '',
    },
});
function cancellation() {
    const cancelled = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM'])
        process.on(signal, () => cancelled.abort());
    return cancelled.signal;
}
const maxRetriesInLog = 10;
const rateLimitText = 'The service limits requests. The rest of the step runs as fast as that limit allows.';
function logRetries(log) {
    let logged = 0;
    let rateLimited = false;
    return ({ why, delayMs, reason }) => {
        const text = `${why} Trying again in ${(0,_report_words_js__WEBPACK_IMPORTED_MODULE_4__/* .duration */ .p0)(delayMs)}.`;
        if (reason === 'limited') {
            if (rateLimited) {
                log.debug(text);
                return;
            }
            rateLimited = true;
            log.line(text);
            log.line(rateLimitText);
            return;
        }
        if (logged < maxRetriesInLog)
            log.line(text);
        else
            log.debug(text);
        logged += 1;
        if (logged === maxRetriesInLog)
            log.line('Further retries are in the debug log only.');
    };
}
const minPauseInLogMs = 1_000;
function logPauses(log) {
    let logged = false;
    return (delayMs) => {
        if (logged || delayMs < minPauseInLogMs)
            return;
        logged = true;
        log.line(rateLimitText);
    };
}
const connect = ({ baseUrl, token, requestTimeout, retries }, origin, log) => (0,_client_client_js__WEBPACK_IMPORTED_MODULE_1__/* .createClient */ .UU)({
    baseUrl,
    token,
    retries,
    requestTimeoutMs: (0,_interface_duration_js__WEBPACK_IMPORTED_MODULE_2__/* .milliseconds */ .Rz)(requestTimeout),
    userAgent: `workspace-automation/${_version_js__WEBPACK_IMPORTED_MODULE_5__/* .version */ .r}`,
    ...(origin !== undefined && { origin }),
    onWarning: log.warn,
    onRetry: logRetries(log),
    onThrottled: logPauses(log),
});
function createContext(connection, { log, setOutputs }, { saveState, redact }) {
    const runner = readRunner(process.env);
    const ledger = (0,_ledger_ledger_js__WEBPACK_IMPORTED_MODULE_3__/* .openLedger */ .au)((0,_ledger_ledger_js__WEBPACK_IMPORTED_MODULE_3__/* .ledgerFile */ .SB)(runner.temporaryFolder), redact);
    log.debug(`Service ${connection.baseUrl}, checkout ${runner.checkout}, ledger ${ledger.file}.`);
    return {
        connection,
        runner,
        client: connect(connection, runner.origin, log),
        ledger,
        record: (0,_ledger_ledger_js__WEBPACK_IMPORTED_MODULE_3__/* .createRecorder */ .Tk)(ledger, log),
        log,
        setOutputs,
        saveState,
        redact,
        signal: cancellation(),
        clock: _client_client_js__WEBPACK_IMPORTED_MODULE_1__/* .steadyClock */ .LW,
        sleep: _client_client_js__WEBPACK_IMPORTED_MODULE_1__/* .sleep */ .yy,
        random: Math.random,
    };
}
const defaultLimitMs = 120_000;
const defaultLimits = ({ clock, connection, signal, }) => ({
    deadline: clock() + defaultLimitMs + (0,_interface_duration_js__WEBPACK_IMPORTED_MODULE_2__/* .milliseconds */ .Rz)(connection.requestTimeout),
    signal,
});


/***/ }),

/***/ 1812:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   Yh: () => (/* binding */ parsedTtl),
/* harmony export */   hB: () => (/* binding */ readEntry),
/* harmony export */   kT: () => (/* binding */ parsedAddress)
/* harmony export */ });
/* unused harmony export isGrantedLock */
/* harmony import */ var _client_workspace_id_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(9228);
/* harmony import */ var _interface_lock_path_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(5860);
/* harmony import */ var _interface_ttl_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(6069);



const isText = (value) => typeof value === 'string';
const isOptionalText = (value) => value === undefined || isText(value);
const hasShape = (value, shape) => typeof value === 'object' &&
    value !== null &&
    Object.entries(shape).every(([name, check]) => check(Reflect.get(value, name)));
const proof = { id: isOptionalText, etag: isOptionalText };
const lockShape = {
    ...proof,
    path: isText,
    type: isText,
    owner: isOptionalText,
    acquired_at: isOptionalText,
    fence: (fence) => fence === undefined || Number.isSafeInteger(fence),
    expires_at: isText,
};
const isGrantedLock = (value) => hasShape(value, lockShape);
const place = { service: isText, workspace: isText, at: isText };
const address = {
    ...place,
    workspace: (id) => typeof id === 'string' && (0,_client_workspace_id_js__WEBPACK_IMPORTED_MODULE_2__/* .parseWorkspaceId */ .m)(id).ok,
    path: (path) => typeof path === 'string' && (0,_interface_lock_path_js__WEBPACK_IMPORTED_MODULE_0__/* .parseHeldPath */ .yo)(path).ok,
};
const request = { ...address, step: isText, key: isText };
const isTtl = (ttl) => typeof ttl === 'string' && (0,_interface_ttl_js__WEBPACK_IMPORTED_MODULE_1__/* .parseTtl */ .Kw)(ttl).ok;
const isTextList = (list) => Array.isArray(list) && list.every(isText);
const shapes = {
    plan: { ...place, step: isText, stepName: isOptionalText, paths: isTextList },
    intent: { ...request, type: isText, ttl: isTtl, byService: (value) => typeof value === 'boolean' },
    granted: { ...request, waitedMs: Number.isSafeInteger, lock: isGrantedLock },
    denied: request,
    releasing: { ...address, ...proof },
    ended: { ...address, ...proof, how: (how) => how === 'released' || how === 'absent' || how === 'lost' },
};
function readEntry(line) {
    try {
        const entry = JSON.parse(line);
        const kind = entry?.kind;
        return Object.hasOwn(shapes, kind) && hasShape(entry, shapes[kind]) ? entry : undefined;
    }
    catch {
        return undefined;
    }
}
function parsedOrThrow(parsed) {
    if (parsed.ok)
        return parsed.value;
    throw new Error(`The ledger has an entry that must not be there. ${parsed.why}`);
}
const parsedAddress = ({ workspace, path, }) => ({
    workspace: parsedOrThrow((0,_client_workspace_id_js__WEBPACK_IMPORTED_MODULE_2__/* .parseWorkspaceId */ .m)(workspace)),
    path: parsedOrThrow((0,_interface_lock_path_js__WEBPACK_IMPORTED_MODULE_0__/* .parseHeldPath */ .yo)(path)),
});
const parsedTtl = ({ ttl }) => parsedOrThrow((0,_interface_ttl_js__WEBPACK_IMPORTED_MODULE_1__/* .parseTtl */ .Kw)(ttl));


/***/ }),

/***/ 2463:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   A$: () => (/* binding */ lockJson),
/* harmony export */   Ny: () => (/* binding */ locksFile),
/* harmony export */   SB: () => (/* binding */ ledgerFile),
/* harmony export */   Tk: () => (/* binding */ createRecorder),
/* harmony export */   au: () => (/* binding */ openLedger)
/* harmony export */ });
/* harmony import */ var node_fs__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(3024);
/* harmony import */ var node_path__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(6760);
/* harmony import */ var _entry_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(1812);



const fileIn = (temporaryFolder, name) => (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(temporaryFolder, 'workspace-automation', name);
const ledgerFile = (temporaryFolder) => fileIn(temporaryFolder, 'ledger.jsonl');
const locksFile = (temporaryFolder, step) => fileIn(temporaryFolder, `locks-${step}.json`);
const fieldsOfService = new Set(['id', 'etag', 'type', 'owner', 'acquired_at', 'expires_at']);
const lockJson = (value, redact) => JSON.stringify(value, (name, member) => fieldsOfService.has(name) && typeof member === 'string' ? redact(member) : member);
function openLedger(file, redact) {
    return {
        file,
        append(...entries) {
            (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.mkdirSync)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.dirname)(file), { recursive: true, mode: 0o700 });
            const text = entries.map((entry) => `\n${lockJson(entry, redact)}\n`).join('');
            (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.appendFileSync)(file, text, { mode: 0o600 });
        },
        read() {
            const lines = (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.readFileSync)(file, 'utf8')
                .split('\n')
                .filter((line) => line !== '');
            const entries = lines.map(_entry_js__WEBPACK_IMPORTED_MODULE_2__/* .readEntry */ .hB);
            const readable = entries.filter((entry) => entry !== undefined);
            return { entries: readable, damaged: entries.length - readable.length };
        },
    };
}
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


/***/ }),

/***/ 4596:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   r: () => (/* binding */ version)
/* harmony export */ });
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
function readAnswer(received, texts) {
    const { status, headers, endIsUnsure } = received;
    const body = readBody(received, headers, texts);
    const claimsJson = /\bjson\b/i.test(headers['content-type'] ?? '');
    if (endIsUnsure && claimsJson && body.kind === 'other')
        throw new Error('the answer was cut in its middle');
    return { status, headers, body };
}
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
const objectIn = ({ body }) => (body.kind === 'json' ? (0,_json_js__WEBPACK_IMPORTED_MODULE_1__/* .asObject */ .eB)(body.value) : {});
function headerOf({ headers }, name) {
    const value = headers[name];
    const [first] = Array.isArray(value) ? value : [value];
    return first?.trim() === '' ? undefined : first?.trim();
}
const relation = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i;
function parseLinks(header) {
    const targets = new Map();
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

/***/ 4932:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  j: () => (/* binding */ createCall),
  l: () => (/* binding */ expectSuccess)
});

// EXTERNAL MODULE: ./build/bundle/compiled/interface/timers.js
var timers = __webpack_require__(671);
// EXTERNAL MODULE: ./build/bundle/compiled/client/answer.js
var answer = __webpack_require__(3203);
// EXTERNAL MODULE: ./build/bundle/compiled/client/connection.js
var connection = __webpack_require__(2073);
;// CONCATENATED MODULE: ./build/bundle/compiled/client/rate-limit.js
const maxFieldLength = 1_000;
const numberIn = (text) => {
    const digits = /^\s*(\d{1,15})\s*(?:[.,;]|$)/.exec(text ?? '')?.[1];
    return digits === undefined ? undefined : Number(digits);
};
function textOf(headers, name) {
    const value = headers[name];
    return (Array.isArray(value) ? value.join(',') : (value ?? '')).slice(0, maxFieldLength);
}
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
const strictest = (all) => all.reduce((least, one) => {
    if (least === undefined || one.remaining < least.remaining)
        return one;
    const isLonger = one.remaining === least.remaining && (one.resetMs ?? 0) > (least.resetMs ?? 0);
    return isLonger ? one : least;
}, undefined);
function byField(headers) {
    const policies = membersOf(textOf(headers, 'ratelimit-policy'));
    return strictest(membersOf(textOf(headers, 'ratelimit')).flatMap(({ name, parameters }) => {
        const remaining = parameters.get('r');
        if (remaining === undefined)
            return [];
        const reset = parameters.get('t');
        const its = policies.find((each) => each.name === name)?.parameters;
        const [quota, seconds] = [its?.get('q'), its?.get('w')];
        const policy = quota && seconds ? { quota, windowMs: seconds * 1_000 } : undefined;
        return { remaining, resetMs: reset === undefined ? undefined : reset * 1_000, policy };
    }));
}
const firstMoment = 1e9;
function byHeaders(headers, serverNow) {
    for (const prefix of ['ratelimit-', 'x-ratelimit-']) {
        const remaining = numberIn(textOf(headers, `${prefix}remaining`));
        if (remaining === undefined)
            continue;
        const reset = numberIn(textOf(headers, `${prefix}reset`));
        const resetMs = reset === undefined ? undefined : reset * 1_000 - (reset >= firstMoment ? serverNow : 0);
        return { remaining, resetMs: resetMs && Math.max(0, resetMs), policy: undefined };
    }
    return undefined;
}
const rateLimitIn = (headers, serverNow) => byField(headers) ?? byHeaders(headers, serverNow);

// EXTERNAL MODULE: ./build/bundle/compiled/client/refusal.js + 1 modules
var refusal = __webpack_require__(3004);
// EXTERNAL MODULE: ./build/bundle/compiled/client/retry.js + 1 modules
var retry = __webpack_require__(8588);
// EXTERNAL MODULE: ./build/bundle/compiled/client/service-error.js
var service_error = __webpack_require__(3925);
// EXTERNAL MODULE: ./build/bundle/compiled/client/service-text.js
var service_text = __webpack_require__(9960);
;// CONCATENATED MODULE: ./build/bundle/compiled/client/throttle.js

const minReserve = 32;
const reserveMs = 1_000;
const maxReserveShare = 1 / 4;
const maxSpacingMs = 5_000;
const blindSpacingMs = 200;
const maxCaution = 4;
const cautionPerRefusal = 2;
const cautionPerAnswer = 0.97;
function createThrottle(random) {
    let policy;
    let remaining;
    let pausedUntil = Number.NEGATIVE_INFINITY;
    let refusedUntil = Number.NEGATIVE_INFINITY;
    let refusedAt = Number.NEGATIVE_INFINITY;
    let drawn = 0;
    let refusals = 0;
    let caution = 1;
    let lastSentAt = Number.NEGATIVE_INFINITY;
    let underWay = 0;
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
            remaining = status.remaining - underWay;
            const { resetMs = 0 } = status;
            pausedUntil = status.remaining === 0 && resetMs > 0 ? now + resetMs + random() * retry/* jitterMs */.z8 : now;
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
            refusedUntil = Math.max(refusedUntil, now + (0,retry/* backoff */.JN)(refusals, retryAfterMs, () => drawn));
            return refusedUntil - now;
        },
    };
}
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
function createAdmission({ maxConnections, throttle, clock, sleep, onThrottled }) {
    const enterConnection = createSemaphore(maxConnections);
    const enterQueue = createSemaphore(1);
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










function expectSuccess(result) {
    if (result.kind === 'given-up')
        throw result.error;
    if (!(0,answer/* isSuccess */.oJ)(result.answer))
        throw result.refuse(result.answer);
    return result;
}
const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/;
const unsendableHeader = (headers) => Object.keys(headers).find((name) => !fieldValue.test(headers[name] ?? ''));
function createCall(options) {
    const { baseUrl, clock, serverClock, random, sleep } = options;
    const throttle = createThrottle(random);
    const admit = createAdmission({ ...options, throttle });
    const defaultTexts = (0,service_text/* createServiceText */.T2)(options.secrets);
    let limitedBy;
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
            return (0,retry/* judgeAnswer */._n)(answer, refusalContext(), mayBeDone);
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
            const waitsTogether = throttled && reason === 'limited';
            if (waitsTogether && failure.kind === 'refused')
                limitedBy = failure;
            const delayMs = waitsTogether ? throttle.refusedUntil() - clock() : (0,retry/* backoff */.JN)(failures, retryAfterMs, random);
            const timeLeft = deadline - clock();
            if (delayMs >= timeLeft) {
                const asked = retryAfterMs !== undefined && retryAfterMs >= timeLeft ? retryAfterMs : undefined;
                return giveUp({ kind: 'deadline', last, retryAfterMs: asked });
            }
            options.onRetry({ delayMs, reason, why: fail(failure).message });
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
  Dm: () => (/* reexport */ retry/* isTransientStatus */.Dm),
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
        const earliest = serverNow() - (clock() - sentAt);
        const acquiredAt = lock.acquired_at === undefined ? earliest : Date.parse(lock.acquired_at);
        return {
            kind: 'acquired',
            lock: {
                ...lock,
                path,
                type: lock.type ?? type,
                etag: (0,known_lock/* etagOf */.Nk)(answer) ?? lock.etag,
                expires_at: lock.expires_at ?? (0,client_clock/* timestamp */.vE)(acquiredAt + (0,duration/* milliseconds */.Rz)(ttl)),
            },
            replayed: isReplayed(answer),
        };
    }
    function held({ answer, texts, mayBeDone, refuse }, path) {
        return {
            kind: 'held',
            holder: (0,known_lock/* holderOf */.Kd)(answer, path, texts),
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
        return without(result.refuse(answer), result.mayBeDone || answer.status === 303);
    };
};
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
function follow(address, from, baseUrl) {
    const base = new URL(from, baseUrl);
    if (!URL.canParse(address, base.href))
        return { kind: 'not-an-address' };
    const { origin, protocol, host, pathname, search } = new URL(address, base);
    if (origin !== baseUrl.origin)
        return { kind: 'elsewhere', origin: `${protocol}//${host}` };
    return { kind: 'target', target: pathname + search };
}

// EXTERNAL MODULE: ./build/bundle/compiled/client/call.js + 2 modules
var client_call = __webpack_require__(4932);
// EXTERNAL MODULE: ./build/bundle/compiled/client/connection.js
var client_connection = __webpack_require__(2073);
;// CONCATENATED MODULE: ./build/bundle/compiled/client/deprecation.js

const maxLength = 300;
function sinceOf(deprecation) {
    const seconds = /^@(\d{1,11})$/.exec(deprecation)?.[1];
    const ms = seconds === undefined ? Date.parse(deprecation) : Number(seconds) * 1_000;
    return Number.isNaN(ms) ? '' : ` since ${new Date(ms).toISOString().slice(0, 10)}`;
}
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
const maxListBytes = 64 * 1_024 * 1_024;
const maxEntries = 1_000_000;
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
        const isLoop = next.kind === 'target' && seen.has(next.target);
        if (isLoop && JSON.stringify(entries) === JSON.stringify(before)) {
            return list('the service gives the same page again');
        }
        before = entries;
        bytes += answer.body.kind === 'json' ? answer.body.byteLength : 0;
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
function nextPage(answer, target, baseUrl) {
    const hint = hintOf(answer);
    if (hint === undefined)
        return { kind: 'none' };
    const followed = hint.kind === 'address' ? follow(hint.text, target, baseUrl) : undefined;
    return followed === undefined || followed.kind === 'not-an-address'
        ? { kind: 'target', target: withCursor(target, hint.text) }
        : followed;
}

// EXTERNAL MODULE: ./build/bundle/compiled/client/service-text.js
var service_text = __webpack_require__(9960);
;// CONCATENATED MODULE: ./build/bundle/compiled/client/lists.js




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
        const isWanted = (lock) => (path === undefined || lock.path === path) &&
            (prefix === undefined || lock.path.startsWith(prefix.normalize('NFC')));
        return { items: items.filter(isWanted), incomplete };
    },
});

;// CONCATENATED MODULE: ./build/bundle/compiled/client/register-hook.js





const textsIn = (object) => Object.values(object).filter((value) => typeof value === 'string');
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
    let slashes = 'encoded';
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
    function lost(result, path) {
        const holder = (0,known_lock/* holderOf */.Kd)(result.answer, path, result.texts);
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
        const holder = (0,known_lock/* holderOf */.Kd)(result.answer, path, result.texts);
        if (holder?.id !== proof.id)
            return judge(result, path);
        const etag = (0,known_lock/* etagOf */.Nk)(result.answer) ?? holder.etag;
        if (etag === undefined || etag === condition)
            return { kind: 'failed', error: result.refuse(result.answer) };
        return judge(await send(request, etag, within), path);
    };
}
const mayBeOfAProxy = (answer) => [400, 404, 405, 414].includes(answer.status) && !(0,refusal/* isOwnError */.fe)(answer);

;// CONCATENATED MODULE: ./build/bundle/compiled/client/sync.js






const good = new Set(['succeeded', 'success', 'successful', 'synced', 'up_to_date', 'passed', 'ok']);
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
function stateOf(status, body) {
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
        state: stateOf(status, body),
        branch: name(['branch']),
        estimated_objects: countIn(body, ['estimated_objects', 'estimatedObjects']),
        received_objects: countIn(body, ['received_objects', 'receivedObjects']),
        head: name(['head', 'commit', 'revision']),
        error: errorIn(body, texts),
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
        async syncStatus(address, within, { throttled = true } = {}) {
            return reportOf((0,client_call/* expectSuccess */.l)(await call({ method: 'GET', target: address, throttled }, within)));
        },
    };
}

// EXTERNAL MODULE: ./build/bundle/compiled/client/time-limit.js
var time_limit = __webpack_require__(3450);
;// CONCATENATED MODULE: ./build/bundle/compiled/client/wait-for-release.js



const waited = (applied) => /(^|[,;\s])wait($|[=,;\s])/i.test(applied ?? '');
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

// EXTERNAL MODULE: ./build/bundle/compiled/client/retry.js + 1 modules
var retry = __webpack_require__(8588);
// EXTERNAL MODULE: ./build/bundle/compiled/client/service-error.js
var service_error = __webpack_require__(3925);
;// CONCATENATED MODULE: ./build/bundle/compiled/client/client.js


















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
        waitForRelease: createWaitForRelease(context),
        registerHook: createRegisterHook(context),
        serverNow: serverClock.now,
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
const steadyClock = () => startedAt + process.uptime() * 1_000;
function dateOf(headers) {
    const date = Date.parse(headers.date ?? '');
    if (Number.isNaN(date))
        return undefined;
    const [age = '0'] = /^\d{1,9}$/.exec(headers.age ?? '') ?? [];
    const told = date + Number(age) * 1_000;
    return timestamp(told) === undefined ? undefined : told;
}
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
const firstMilliseconds = 100_000_000_000;
const looksLikeDate = /^(\d{4}-\d\d-\d\d|(mon|tue|wed|thu|fri|sat|sun)\b)/i;
function timestampIn(json) {
    if (typeof json === 'number')
        return timestamp(json < firstMilliseconds ? json * 1_000 : json);
    if (typeof json !== 'string' || !looksLikeDate.test(json))
        return undefined;
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
/* harmony import */ var _actions_http_client_lib_proxy__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(7157);
/* harmony import */ var _answer_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(3203);



const maxConnections = 16;
async function readBytes(message) {
    const chunks = [];
    let length = 0;
    for await (const chunk of message) {
        const bytes = chunk;
        chunks.push(bytes);
        length += bytes.length;
        if (length > _answer_js__WEBPACK_IMPORTED_MODULE_2__/* .maxBodyBytes */ .G4)
            return { bytes: Buffer.concat(chunks), tooLarge: true };
    }
    return { bytes: Buffer.concat(chunks), tooLarge: false };
}
async function openTunnels(baseUrl, signal) {
    const { HttpClient } = await __webpack_require__.e(/* import() */ 453).then(__webpack_require__.bind(__webpack_require__, 7453));
    const client = new HttpClient(undefined, [], {
        keepAlive: true,
        maxSockets: Number.POSITIVE_INFINITY,
    });
    const agent = client.getAgent(baseUrl.href);
    if ('proxyOptions' in agent && typeof agent.proxyOptions === 'object')
        Object.assign(agent.proxyOptions ?? {}, { signal });
    return agent;
}
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
const unconnectedWords = /^tunneling socket could not be established|before secure TLS connection was established/;
const certificate = /CERT|SELF_SIGNED|^UNABLE_TO_(GET|VERIFY|DECODE)|^HOSTNAME_MISMATCH$|^INVALID_CA$/;
const maxWordsLength = 300;
const tipOfNode = /; if the root CA is installed locally.*$/s;
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
/* harmony export */   Kd: () => (/* binding */ holderOf),
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
const opaque = /^[\x21\x23-\x7e\x80-\xff]{1,1024}$/;
const idIn = (lock) => {
    const id = (0,_json_js__WEBPACK_IMPORTED_MODULE_3__/* .firstName */ .u$)(lock, names.id);
    return id !== undefined && opaque.test(id) ? id : undefined;
};
const strong = (etag) => etag === undefined || etag.startsWith('W/') || etag === '*' ? undefined : etag;
function etagIn(lock) {
    const tag = (0,_json_js__WEBPACK_IMPORTED_MODULE_3__/* .firstName */ .u$)(lock, ['etag', 'ETag'])?.replace(/^"(.*)"$/s, '$1');
    return tag !== undefined && opaque.test(tag) ? `"${tag}"` : undefined;
}
const etagOf = (answer) => strong((0,_answer_js__WEBPACK_IMPORTED_MODULE_0__/* .headerOf */ .rR)(answer, 'etag'));
const typeIn = (lock) => {
    const type = (0,_json_js__WEBPACK_IMPORTED_MODULE_3__/* .firstName */ .u$)(lock, names.type);
    return type !== undefined && /^[\w.-]{1,64}$/.test(type) ? type : undefined;
};
function fenceIn(lock) {
    const fence = (0,_json_js__WEBPACK_IMPORTED_MODULE_3__/* .firstName */ .u$)(lock, names.fence) ?? '';
    const number = /^\d{1,16}$/.test(fence) ? Number(fence) : Number.NaN;
    return Number.isSafeInteger(number) ? number : undefined;
}
function ownerIn(lock) {
    const owner = (0,_json_js__WEBPACK_IMPORTED_MODULE_3__/* .firstMember */ .PE)(lock, names.owner);
    return (0,_json_js__WEBPACK_IMPORTED_MODULE_3__/* .isObject */ .Gv)(owner) ? (0,_json_js__WEBPACK_IMPORTED_MODULE_3__/* .firstName */ .u$)(owner, names.person) : (0,_json_js__WEBPACK_IMPORTED_MODULE_3__/* .nameIn */ .ZC)(owner);
}
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
function readListedLock(entry, texts) {
    if (typeof entry === 'string')
        return entry === '' ? undefined : readLock({}, entry, texts);
    const lock = (0,_json_js__WEBPACK_IMPORTED_MODULE_3__/* .isObject */ .Gv)(entry) ? unwrapped(entry) : {};
    const path = (0,_json_js__WEBPACK_IMPORTED_MODULE_3__/* .firstName */ .u$)(lock, names.path);
    return path === undefined ? undefined : readLock(lock, path, texts);
}
function unwrapped(body) {
    const inner = [body['lock'], body['data'], body['result']].find(_json_js__WEBPACK_IMPORTED_MODULE_3__/* .isObject */ .Gv);
    return inner ?? body;
}
const tellsOfAHolder = (body) => ownerIn(body) !== undefined || (0,_clock_js__WEBPACK_IMPORTED_MODULE_1__/* .timestampIn */ .ol)((0,_json_js__WEBPACK_IMPORTED_MODULE_3__/* .firstMember */ .PE)(body, names.expires)) !== undefined;
function holderIn(answer) {
    const body = (0,_answer_js__WEBPACK_IMPORTED_MODULE_0__/* .objectIn */ .D7)(answer);
    const { locks, holder } = body;
    const [first] = (0,_json_js__WEBPACK_IMPORTED_MODULE_3__/* .isArray */ .cy)(locks) ? locks : [];
    const named = [body['lock'], first, body['current_lock'], (0,_json_js__WEBPACK_IMPORTED_MODULE_3__/* .asObject */ .eB)(body['error'])['lock'], body['data']].find(_json_js__WEBPACK_IMPORTED_MODULE_3__/* .isObject */ .Gv);
    if (named !== undefined)
        return named;
    if ((0,_json_js__WEBPACK_IMPORTED_MODULE_3__/* .isObject */ .Gv)(holder))
        return tellsOfAHolder(holder) ? holder : { owner: holder };
    return tellsOfAHolder(body) ? body : undefined;
}
function holderOf(answer, path, texts) {
    const holder = holderIn(answer);
    return holder && readLock(holder, path, texts);
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

// UNUSED EXPORTS: fieldsOf, wordsOf

;// CONCATENATED MODULE: ./build/bundle/compiled/interface/retry-after.js
function parseRetryAfter(value, now) {
    const text = value?.trim() ?? '';
    if (/^\d+(\.\d+)?$/.test(text))
        return Math.min(Number(text) * 1_000, Number.MAX_SAFE_INTEGER);
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
function requestIdOf(answer, texts) {
    const body = (0,client_answer/* objectIn */.D7)(answer);
    const id = (0,json/* firstName */.u$)(body, idNames) ??
        (0,json/* firstName */.u$)((0,json/* asObject */.eB)(body['error']), idNames) ??
        idHeaders.map((name) => (0,client_answer/* headerOf */.rR)(answer, name)).find((value) => value !== undefined);
    return id === undefined ? undefined : texts.line(id, maxIdLength);
}
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
function redirectTarget(location, baseUrl, texts) {
    if (location === undefined || !URL.canParse(location, baseUrl.href))
        return undefined;
    const { protocol, host, pathname } = new URL(location, baseUrl);
    return texts.line(`${protocol}//${host}${pathname}`, 300);
}
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
function rawWordsOf(body) {
    if (typeof body === 'string')
        return (0,json/* nameIn */.ZC)(body);
    const object = (0,json/* asObject */.eB)(body);
    const error = object['error'];
    const nested = (0,json/* asObject */.eB)(error);
    return ((0,json/* firstName */.u$)(object, ['detail', 'title']) ??
        (0,json/* firstName */.u$)(nested, ['message', 'detail', 'title', 'code']) ??
        joined((0,json/* nameIn */.ZC)(error), (0,json/* firstName */.u$)(object, ['message', 'error_description'])) ??
        (0,json/* firstName */.u$)((0,json/* asObject */.eB)(object['fault']), ['faultstring']));
}
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
const ofNoRoute = [
    /^(4\d\d )?(not found|bad request|method not allowed|(request-)?uri too (long|large))\.?$/i,
    /^(the )?(requested )?(page|resource|route|url|uri|endpoint)\b.*\b(not found|not exist|doesn't exist|not available)\b/i,
    /^no (matching )?route\b/i,
    /^cannot [a-z]+ \//i,
];
function isOwnError(answer) {
    const body = (0,client_answer/* objectIn */.D7)(answer);
    if ((0,json/* nameIn */.ZC)(body['request_id']) !== undefined)
        return true;
    const said = rawWordsOf(body)?.split(': ') ?? [];
    return said.some((words) => !ofNoRoute.some((pattern) => pattern.test(words.trim())));
}


/***/ }),

/***/ 8588:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  JN: () => (/* binding */ backoff),
  Dm: () => (/* binding */ isTransientStatus),
  z8: () => (/* binding */ jitterMs),
  _n: () => (/* binding */ judgeAnswer)
});

// UNUSED EXPORTS: isStillRunning

;// CONCATENATED MODULE: ./build/bundle/compiled/interface/problem.js
const problemTypePrefix = 'urn:workspace-automation:problem:';
const problems = {
    'malformed-request': { status: 400, title: 'Malformed request' },
    unauthorized: { status: 401, title: 'Unauthorized' },
    'insufficient-scope': { status: 403, title: 'Insufficient scope' },
    'lock-of-another-token': { status: 403, title: 'Lock held by another token' },
    'cross-site': { status: 403, title: 'Cross-site request' },
    'not-found': { status: 404, title: 'Not found' },
    'method-not-allowed': { status: 405, title: 'Method not allowed' },
    'request-timeout': { status: 408, title: 'Request timeout' },
    locked: { status: 409, title: 'Path locked' },
    'request-in-progress': { status: 409, title: 'Request in progress' },
    'lock-changed': { status: 412, title: 'Lock changed' },
    'body-too-large': { status: 413, title: 'Request body too large' },
    'unsupported-media-type': { status: 415, title: 'Unsupported media type' },
    'invalid-request': { status: 422, title: 'Invalid request' },
    'idempotency-key-reused': { status: 422, title: 'Idempotency key reused' },
    'quota-exceeded': { status: 422, title: 'Quota exceeded' },
    'rate-limited': { status: 429, title: 'Too many requests' },
    'headers-too-large': { status: 431, title: 'Request headers too large' },
    'internal-error': { status: 500, title: 'Internal error' },
    unavailable: { status: 503, title: 'Service unavailable' },
};
const problemMediaType = 'application/problem+json';

// EXTERNAL MODULE: ./build/bundle/compiled/client/answer.js
var client_answer = __webpack_require__(3203);
// EXTERNAL MODULE: ./build/bundle/compiled/client/json.js
var json = __webpack_require__(5395);
// EXTERNAL MODULE: ./build/bundle/compiled/client/known-lock.js
var known_lock = __webpack_require__(1192);
// EXTERNAL MODULE: ./build/bundle/compiled/client/refusal.js + 1 modules
var refusal = __webpack_require__(3004);
;// CONCATENATED MODULE: ./build/bundle/compiled/client/retry.js





const isTransientStatus = (status) => status === 408 || status === 425 || status === 429 || (status >= 500 && status < 600);
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
    if (!stillRunning && !isTransientStatus(status))
        return { kind: 'answered', answer };
    const failure = (0,refusal/* refusalOf */.Of)(answer, context);
    const retryAfterMs = failure.kind === 'refused' ? failure.retryAfterMs : undefined;
    return {
        kind: 'failed',
        failure,
        mayBeDone: stillRunning || status >= 500,
        reason: reasonOf(status, stillRunning, retryAfterMs),
        retryAfterMs,
    };
}
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
const jitterMs = 250;
function backoff(failed, retryAfterMs, random) {
    const half = Math.min(maxBackoffMs, firstBackoffMs * 2 ** (failed - 1)) / 2;
    if (retryAfterMs === undefined)
        return half + random() * half;
    return Math.max(retryAfterMs + random() * jitterMs, half);
}


/***/ }),

/***/ 3925:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   _: () => (/* binding */ ServiceError)
/* harmony export */ });
/* harmony import */ var node_http__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(7067);
/* harmony import */ var _interface_duration_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(4393);


function answerIn(failure) {
    if (failure.kind === 'deadline')
        return failure.last && answerIn(failure.last);
    return 'status' in failure ? failure : undefined;
}
class ServiceError extends Error {
    name = 'ServiceError';
    failure;
    attempts;
    constructor(call, failure) {
        super(sentenceOf(call, failure));
        this.failure = failure;
        this.attempts = call.attempts;
    }
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

const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s]+/gu;
const controlCharacter = /[\p{Cc}\p{Cs}]/gu;
const maxReadLength = 16_384;
const minDataSecretLength = 8;
function cut(text, maxLength) {
    if (text.length <= maxLength)
        return text;
    return `${text.slice(0, maxLength - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
function createServiceText(secrets) {
    const anywhere = (0,_interface_redact_js__WEBPACK_IMPORTED_MODULE_0__/* .spellingsOf */ .Hz)(secrets);
    const inData = anywhere.filter((secret) => secret.length >= minDataSecretLength);
    const maxSecretLength = anywhere[0]?.length ?? 0;
    const minTextLength = inData.at(-1)?.length ?? Number.POSITIVE_INFINITY;
    function shown(text, maxLength, goesOn) {
        const redacted = (0,_interface_redact_js__WEBPACK_IMPORTED_MODULE_0__/* .redact */ .E$)(text.replaceAll(unsafe, ' ').trim(), anywhere);
        return cut(goesOn ? redacted.slice(0, Math.max(0, redacted.length - maxSecretLength)) : redacted, maxLength);
    }
    return {
        line: (text, maxLength) => shown(text.slice(0, maxReadLength), maxLength, text.length > maxReadLength),
        excerpt: (body, maxLength) => shown(htmlToText(body.slice(0, maxReadLength)), maxLength, body.length > maxReadLength),
        data: (text) => (text.length < minTextLength ? text : (0,_interface_redact_js__WEBPACK_IMPORTED_MODULE_0__/* .redact */ .E$)(text, inData)),
    };
}
const maxNameLength = 4_096;
const tooManyMarks = /\p{M}{31}/u;
function plainName(name) {
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
const beginning = /<(?:(script|style|template)\b[^<>]*>|!--)/gi;
const ends = {
    script: /<\/script\s*>/gi,
    style: /<\/style\s*>/gi,
    template: /<\/template\s*>/gi,
    comment: /-->/g,
};
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
function startTimeLimit(ms, outer, startTimer = startMachineTimer) {
    const timer = new AbortController();
    const stop = startTimer(ms, () => timer.abort());
    const signal = AbortSignal.any([timer.signal, ...outer]);
    return { signal, stop, isOver: () => timer.signal.aborted && signal.reason === timer.signal.reason };
}
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
const maxTimerMs = 2 ** 31 - 1;
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
        signal.removeEventListener('abort', stop);
    }
}


/***/ }),

/***/ 7157:
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
