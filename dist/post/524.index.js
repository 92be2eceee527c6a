export const id = 524;
export const ids = [524];
export const modules = {

/***/ 524:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  releaseStep: () => (/* binding */ releaseStep)
});

// UNUSED EXPORTS: maxRequestTimeout, releaseClaims, retries, timeLimitMs

// EXTERNAL MODULE: ./build/bundle/compiled/interface/duration.js
var interface_duration = __webpack_require__(393);
// EXTERNAL MODULE: ./build/bundle/compiled/client/json.js
var json = __webpack_require__(395);
// EXTERNAL MODULE: ./build/bundle/compiled/interface/redact.js
var redact = __webpack_require__(148);
;// CONCATENATED MODULE: ./build/bundle/compiled/client/service-text.js

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
    const anywhere = (0,redact/* spellingsOf */.Hz)(secrets);
    const inData = anywhere.filter((secret) => secret.length >= minDataSecretLength);
    const maxSecretLength = anywhere[0]?.length ?? 0;
    const minTextLength = inData.at(-1)?.length ?? Number.POSITIVE_INFINITY;
    function shown(text, maxLength, goesOn) {
        const redacted = (0,redact/* redact */.E$)(text.replaceAll(unsafe, ' ').trim(), anywhere);
        return cut(goesOn ? redacted.slice(0, Math.max(0, redacted.length - maxSecretLength)) : redacted, maxLength);
    }
    return {
        line: (text, maxLength) => shown(text.slice(0, maxReadLength), maxLength, text.length > maxReadLength),
        excerpt: (body, maxLength) => shown(htmlToText(body.slice(0, maxReadLength)), maxLength, body.length > maxReadLength),
        data: (text) => (text.length < minTextLength ? text : (0,redact/* redact */.E$)(text, inData)),
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

;// CONCATENATED MODULE: ./build/bundle/compiled/client/answer.js


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
    const parsed = (0,json/* parseJson */.qF)(text, texts.data);
    if (parsed.ok)
        return { kind: 'json', value: parsed.value, byteLength: bytes.length };
    const type = texts.line(headers['content-type'] ?? '', 80);
    const why = `${parsed.why}${type === '' ? '' : ` (its type is said to be ${type})`}`;
    return { kind: 'other', why, excerpt, isHtml: looksLikeHtml(text) };
}
const isSuccess = ({ status }) => status >= 200 && status < 300;
const objectIn = ({ body }) => (body.kind === 'json' ? (0,json/* asObject */.eB)(body.value) : {});
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

;// CONCATENATED MODULE: ./build/bundle/compiled/client/clock.js
const startedAt = Date.now() - process.uptime() * 1_000;
const clock_steadyClock = () => startedAt + process.uptime() * 1_000;
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

;// CONCATENATED MODULE: ./build/bundle/compiled/client/known-lock.js




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
const known_lock_maxNameLength = 256;
const maxOriginLength = 1_024;
const opaque = /^[\x21\x23-\x7e\x80-\xff]{1,1024}$/;
const idIn = (lock) => {
    const id = (0,json/* firstName */.u$)(lock, names.id);
    return id !== undefined && opaque.test(id) ? id : undefined;
};
const strong = (etag) => etag === undefined || etag.startsWith('W/') || etag === '*' ? undefined : etag;
function etagIn(lock) {
    const tag = (0,json/* firstName */.u$)(lock, ['etag', 'ETag'])?.replace(/^"(.*)"$/s, '$1');
    return tag !== undefined && opaque.test(tag) ? `"${tag}"` : undefined;
}
const etagOf = (answer) => strong(headerOf(answer, 'etag'));
const typeIn = (lock) => {
    const type = (0,json/* firstName */.u$)(lock, names.type);
    return type !== undefined && /^[\w.-]{1,64}$/.test(type) ? type : undefined;
};
function fenceIn(lock) {
    const fence = (0,json/* firstName */.u$)(lock, names.fence) ?? '';
    const number = /^\d{1,16}$/.test(fence) ? Number(fence) : Number.NaN;
    return Number.isSafeInteger(number) ? number : undefined;
}
function ownerIn(lock) {
    const owner = (0,json/* firstMember */.PE)(lock, names.owner);
    return (0,json/* isObject */.Gv)(owner) ? (0,json/* firstName */.u$)(owner, names.person) : (0,json/* nameIn */.ZC)(owner);
}
function readLock(lock, path, texts) {
    const line = (text, maxLength) => text === undefined ? undefined : (0,json/* nameIn */.ZC)(texts.line(text, maxLength));
    return {
        path: plainName((0,json/* firstName */.u$)(lock, names.path) ?? path),
        type: typeIn(lock),
        id: idIn(lock),
        etag: etagIn(lock),
        owner: line(ownerIn(lock), known_lock_maxNameLength),
        origin: line((0,json/* firstName */.u$)(lock, names.origin), maxOriginLength),
        acquired_at: timestampIn((0,json/* firstMember */.PE)(lock, names.acquired)),
        expires_at: timestampIn((0,json/* firstMember */.PE)(lock, names.expires)),
        fence: fenceIn(lock),
        raw: lock,
    };
}
function readListedLock(entry, texts) {
    if (typeof entry === 'string')
        return entry === '' ? undefined : readLock({}, entry, texts);
    const lock = (0,json/* isObject */.Gv)(entry) ? unwrapped(entry) : {};
    const path = (0,json/* firstName */.u$)(lock, names.path);
    return path === undefined ? undefined : readLock(lock, path, texts);
}
function unwrapped(body) {
    const inner = [body['lock'], body['data'], body['result']].find(json/* isObject */.Gv);
    return inner ?? body;
}
const tellsOfAHolder = (body) => ownerIn(body) !== undefined || timestampIn((0,json/* firstMember */.PE)(body, names.expires)) !== undefined;
function holderIn(answer) {
    const body = objectIn(answer);
    const { locks, holder } = body;
    const [first] = (0,json/* isArray */.cy)(locks) ? locks : [];
    const named = [body['lock'], first, body['current_lock'], (0,json/* asObject */.eB)(body['error'])['lock'], body['data']].find(json/* isObject */.Gv);
    if (named !== undefined)
        return named;
    if ((0,json/* isObject */.Gv)(holder))
        return tellsOfAHolder(holder) ? holder : { owner: holder };
    return tellsOfAHolder(body) ? body : undefined;
}
function holderOf(answer, path, texts) {
    const holder = holderIn(answer);
    return holder && readLock(holder, path, texts);
}

;// CONCATENATED MODULE: ./build/bundle/compiled/interface/retry-after.js
function parseRetryAfter(value, now) {
    const text = value?.trim() ?? '';
    if (/^\d+(\.\d+)?$/.test(text))
        return Math.min(Number(text) * 1_000, Number.MAX_SAFE_INTEGER);
    const date = /^(mon|tue|wed|thu|fri|sat|sun)/i.test(text) ? Date.parse(text) : Number.NaN;
    return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

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
    const body = objectIn(answer);
    const id = (0,json/* firstName */.u$)(body, idNames) ??
        (0,json/* firstName */.u$)((0,json/* asObject */.eB)(body['error']), idNames) ??
        idHeaders.map((name) => headerOf(answer, name)).find((value) => value !== undefined);
    return id === undefined ? undefined : texts.line(id, maxIdLength);
}
function missingScopeOf(answer, texts) {
    const challenge = headerOf(answer, 'www-authenticate') ?? '';
    if (answer.status !== 403 || !/\berror="?insufficient_scope\b/i.test(challenge))
        return undefined;
    const [, scope] = /\bscope="([^"]+)"/i.exec(challenge) ?? [];
    return scope === undefined ? undefined : texts.line(scope, maxIdLength);
}
function retryAfterOf(answer, serverNow) {
    return parseRetryAfter(headerOf(answer, 'retry-after'), serverNow);
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
            target: redirectTarget(headerOf(answer, 'location'), baseUrl, texts),
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
    const body = objectIn(answer);
    if ((0,json/* nameIn */.ZC)(body['request_id']) !== undefined)
        return true;
    const said = rawWordsOf(body)?.split(': ') ?? [];
    return said.some((words) => !ofNoRoute.some((pattern) => pattern.test(words.trim())));
}

;// CONCATENATED MODULE: ./build/bundle/compiled/client/acquire-lock.js





const createAcquireLock = ({ call, addresses, clock, serverNow }) => {
    function acquired({ answer, texts, sentAt }, { path, type, ttl }) {
        const lock = readLock(unwrapped(objectIn(answer)), path, texts);
        const earliest = serverNow() - (clock() - sentAt);
        const acquiredAt = lock.acquired_at === undefined ? earliest : Date.parse(lock.acquired_at);
        return {
            kind: 'acquired',
            lock: {
                ...lock,
                path,
                type: lock.type ?? type,
                etag: etagOf(answer) ?? lock.etag,
                expires_at: lock.expires_at ?? timestamp(acquiredAt + (0,interface_duration/* milliseconds */.Rz)(ttl)),
            },
            replayed: isReplayed(answer),
        };
    }
    function held({ answer, texts, mayBeDone, refuse }, path) {
        return {
            kind: 'held',
            holder: holderOf(answer, path, texts),
            retryAfterMs: retryAfterOf(answer, serverNow()),
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
            body: { path, type, ttl: (0,interface_duration/* formatDuration */.a3)(ttl) },
            keySentBefore,
        }, within);
        const without = (error, mayBeDone = result.mayBeDone) => ({
            kind: mayBeDone ? 'unclear' : 'failed',
            error,
        });
        if (result.kind === 'given-up')
            return without(result.error);
        const { answer, texts } = result;
        if (isSuccess(answer)) {
            const wrong = unusableThoughOptional(answer, texts);
            return wrong === undefined ? acquired(result, request) : without(result.fail(wrong), true);
        }
        if (answer.status === 409 || answer.status === 423)
            return held(result, path);
        return without(result.refuse(answer), result.mayBeDone || answer.status === 303);
    };
};
const isReplayed = (answer) => ['idempotency-replayed', 'idempotent-replayed'].some((name) => headerOf(answer, name)?.toLowerCase() === 'true');

// EXTERNAL MODULE: ./build/bundle/compiled/interface/lock-path.js
var lock_path = __webpack_require__(860);
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

;// CONCATENATED MODULE: ./build/bundle/compiled/interface/timers.js
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

// EXTERNAL MODULE: external "node:http"
var external_node_http_ = __webpack_require__(67);
var external_node_http_namespaceObject = /*#__PURE__*/__webpack_require__.t(external_node_http_, 2);
// EXTERNAL MODULE: ./build/bundle/node_modules/@actions/http-client/lib/proxy.js
var proxy = __webpack_require__(157);
;// CONCATENATED MODULE: ./build/bundle/compiled/client/connection.js



const maxConnections = 16;
async function readBytes(message) {
    const chunks = [];
    let length = 0;
    for await (const chunk of message) {
        const bytes = chunk;
        chunks.push(bytes);
        length += bytes.length;
        if (length > maxBodyBytes)
            return { bytes: Buffer.concat(chunks), tooLarge: true };
    }
    return { bytes: Buffer.concat(chunks), tooLarge: false };
}
async function openTunnels(baseUrl, signal) {
    const { HttpClient } = await __webpack_require__.e(/* import() */ 453).then(__webpack_require__.bind(__webpack_require__, 453));
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
    const { Agent, request } = isHttps ? process.getBuiltinModule('node:https') : external_node_http_namespaceObject;
    const port = baseUrl.port === '' ? (isHttps ? 443 : 80) : Number(baseUrl.port);
    const throughProxy = Boolean((0,proxy/* getProxyUrl */.s)(baseUrl)?.hostname);
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
const connection_maxWordsLength = 300;
const tipOfNode = /; if the root CA is installed locally.*$/s;
const connection_wordsOf = (error) => error instanceof AggregateError && error.message === ''
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
    const words = texts.line(connection_wordsOf(error).replace(tipOfNode, ''), connection_maxWordsLength);
    return {
        kind: 'connection',
        code,
        words: code === undefined || words.includes(code) ? words : `${words} (${code})`,
        mayHaveArrived: !unconnected,
        untrusted,
    };
}

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
    const failure = refusalOf(answer, context);
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
    const body = objectIn(answer);
    const type = (0,json/* nameIn */.ZC)(body['type']) ?? '';
    if (type.startsWith(problemTypePrefix))
        return type === `${problemTypePrefix}request-in-progress`;
    if (holderIn(answer) !== undefined)
        return false;
    const words = `${type} ${rawWordsOf(body) ?? ''}`;
    if (/idempoten/i.test(words) && /progress|running|outstanding|process|concurrent/i.test(words))
        return true;
    return keyMayHaveArrived && headerOf(answer, 'retry-after') !== undefined;
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

;// CONCATENATED MODULE: ./build/bundle/compiled/client/service-error.js


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
    return `${before} The service asks to wait for ${(0,interface_duration/* spanOfMs */.E$)(retryAfterMs)}, and less time is left.`;
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
            return `The service did not answer within ${(0,interface_duration/* spanOfMs */.E$)(failure.limitMs)}.`;
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
    const status = answer && `: ${answer.status} ${external_node_http_.STATUS_CODES[answer.status] ?? ''}`.trimEnd();
    const id = answer?.requestId === undefined ? '' : `, request id ${answer.requestId}`;
    const tried = attempts > 1 ? `, ${attempts} attempts` : '';
    return `${failureText(failure).replace(/\.$/, '')} (${method} ${path}${status ?? ''}${id}${tried}).`;
}

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

// EXTERNAL MODULE: external "node:timers/promises"
var promises_ = __webpack_require__(500);
;// CONCATENATED MODULE: ./build/bundle/compiled/client/time-limit.js


const startMachineTimer = (ms, work) => {
    const timer = setTimeout(work, Math.min(Math.max(ms, 0), maxTimerMs));
    return () => clearTimeout(timer);
};
function startTimeLimit(ms, outer, startTimer = startMachineTimer) {
    const timer = new AbortController();
    const stop = startTimer(ms, () => timer.abort());
    const signal = AbortSignal.any([timer.signal, ...outer]);
    return { signal, stop, isOver: () => timer.signal.aborted && signal.reason === timer.signal.reason };
}
async function time_limit_sleep(ms, signal) {
    for (let left = ms; left > 0 && !signal.aborted; left -= maxTimerMs) {
        await (0,promises_.setTimeout)(Math.min(left, maxTimerMs), undefined, { signal }).catch(() => undefined);
    }
}

;// CONCATENATED MODULE: ./build/bundle/compiled/client/call.js










function expectSuccess(result) {
    if (result.kind === 'given-up')
        throw result.error;
    if (!isSuccess(result.answer))
        throw result.refuse(result.answer);
    return result;
}
const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/;
const unsendableHeader = (headers) => Object.keys(headers).find((name) => !fieldValue.test(headers[name] ?? ''));
function createCall(options) {
    const { baseUrl, clock, serverClock, random, sleep } = options;
    const throttle = createThrottle(random);
    const admit = createAdmission({ ...options, throttle });
    const defaultTexts = createServiceText(options.secrets);
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
            throttle.refused(sentAt, retryAfterOf(answer, serverClock.now()), clock());
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
        const texts = secrets.length === 0 ? defaultTexts : createServiceText([...options.secrets, ...secrets]);
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
        const fail = (failure) => new ServiceError({ method, path: target.replace(/\?.*$/s, ''), attempts }, failure);
        const refusalContext = () => ({ baseUrl, texts, serverNow: serverClock.now() });
        const refuse = (answer) => fail(refusalOf(answer, refusalContext()));
        const context = () => ({ texts, sentAt: firstSentAt ?? clock(), mayBeDone, fail, refuse });
        const giveUp = (failure) => ({ kind: 'given-up', error: fail(failure), ...context() });
        const giveUpInterrupted = (limited = false) => giveUp(limit.signal.aborted && !limit.isOver()
            ? { kind: 'aborted' }
            : { kind: 'deadline', last, retryAfterMs: undefined, limited });
        async function attempt() {
            const sentAt = clock();
            const attemptLimit = startTimeLimit(timeoutMs, [limit.signal], options.startTimer);
            let answer;
            try {
                answer = await unlessAborted(options.send(sent, attemptLimit.signal, texts), attemptLimit.signal);
            }
            catch (error) {
                if (!attemptLimit.isOver() && limit.signal.aborted)
                    return undefined;
                const failure = attemptLimit.isOver()
                    ? { kind: 'timeout', limitMs: timeoutMs }
                    : connectionFailure(error, texts);
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
            const waitsTogether = throttled && reason === 'limited';
            if (waitsTogether && failure.kind === 'refused')
                limitedBy = failure;
            const delayMs = waitsTogether ? throttle.refusedUntil() - clock() : backoff(failures, retryAfterMs, random);
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
        const limit = startTimeLimit(within.deadline - clock(), outer, options.startTimer);
        try {
            return await send(request, within, limit);
        }
        finally {
            limit.stop();
        }
    };
}

;// CONCATENATED MODULE: ./build/bundle/compiled/client/deprecation.js

const maxLength = 300;
function sinceOf(deprecation) {
    const seconds = /^@(\d{1,11})$/.exec(deprecation)?.[1];
    const ms = seconds === undefined ? Date.parse(deprecation) : Number(seconds) * 1_000;
    return Number.isNaN(ms) ? '' : ` since ${new Date(ms).toISOString().slice(0, 10)}`;
}
function deprecationIn(answer, texts) {
    const deprecation = headerOf(answer, 'deprecation');
    const sunset = headerOf(answer, 'sunset');
    if (deprecation === undefined && sunset === undefined)
        return undefined;
    const outdated = deprecation === undefined ? '' : ` is deprecated${sinceOf(deprecation)}`;
    const ending = sunset === undefined ? '' : ` ends on ${sunset}`;
    const links = parseLinks(headerOf(answer, 'link'));
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
    const wrong = unusable(answer, texts);
    if (wrong !== undefined)
        throw fail(wrong);
    const entries = answer.body.kind === 'json' ? entriesOf(answer.body.value, name) : undefined;
    if (entries !== undefined)
        return entries;
    const found = Object.keys(objectIn(answer)).join(', ');
    const why = `there is no list in it, neither bare nor as ${name}, items, data or results`;
    throw fail(notUnderstood(answer, texts, why, texts.line(found === '' ? '' : `an object with ${found}`, 200)));
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
        const answered = expectSuccess(result);
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
            throw answered.fail(notUnderstood(answer, texts, why));
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
    const linked = parseLinks(headerOf(answer, 'link')).get('next');
    if (linked !== undefined)
        return { kind: 'address', text: linked };
    const body = objectIn(answer);
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

;// CONCATENATED MODULE: ./build/bundle/compiled/client/lists.js




const readNamed = (names) => (entry) => {
    const name = typeof entry === 'string' ? entry : (0,json/* firstName */.u$)((0,json/* asObject */.eB)(entry), names);
    if (name === undefined || name === '')
        return undefined;
    return { name: plainName(name), raw: (0,json/* asObject */.eB)(entry) };
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
        const { items, incomplete } = await readPages(context, listing, readListedLock, within);
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
    const { answer, texts, fail } = expectSuccess(result);
    const wrong = unusableThoughOptional(answer, texts);
    if (wrong !== undefined)
        throw fail(wrong);
    const said = objectIn(answer);
    const hook = [said['hook'], said['webhook'], said['data']].find(json/* isObject */.Gv) ?? said;
    const id = (0,json/* firstName */.u$)(hook, ['id', 'hook_id', 'hookId', 'webhook_id']);
    const madeSecret = body.secret === undefined ? (0,json/* nameIn */.ZC)(hook['secret']) : undefined;
    return {
        hook_id: id === undefined ? undefined : plainName(id),
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
        if (second.kind === 'answered' && (isSuccess(second.answer) || isOwnError(second.answer)))
            slashes = 'raw';
        return { ...second, mayBeDone: second.mayBeDone || first.mayBeDone };
    }
    function lost(result, path) {
        const holder = holderOf(result.answer, path, result.texts);
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
        if (isSuccess(answer)) {
            const wrong = unusableThoughOptional(answer, texts);
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
        const holder = holderOf(result.answer, path, result.texts);
        if (holder?.id !== proof.id)
            return judge(result, path);
        const etag = etagOf(result.answer) ?? holder.etag;
        if (etag === undefined || etag === condition)
            return { kind: 'failed', error: result.refuse(result.answer) };
        return judge(await send(request, etag, within), path);
    };
}
const mayBeOfAProxy = (answer) => [400, 404, 405, 414].includes(answer.status) && !isOwnError(answer);

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
    const words = rawWordsOf({ error: body['error'] ?? null }) ?? (0,json/* firstName */.u$)(body, ['error_message', 'failure_reason']);
    return words === undefined ? undefined : (0,json/* nameIn */.ZC)(texts.line(words, maxErrorLength));
}
function readSync(body, texts) {
    const name = (names) => {
        const text = (0,json/* firstName */.u$)(body, names);
        return text === undefined ? undefined : plainName(text);
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
    const body = objectIn(answer);
    return [body['sync'], body['data']].find(json/* isObject */.Gv) ?? body;
};
function createSync({ call, addresses, baseUrl, serverNow }) {
    function reportOf({ answer, texts, fail }) {
        const wrong = unusable(answer, texts);
        if (wrong !== undefined)
            throw fail(wrong);
        const body = syncIn(answer);
        if (Object.keys(body).length === 0)
            throw fail(notUnderstood(answer, texts, 'there is no sync in it'));
        return { ...readSync(body, texts), retryAfterMs: retryAfterOf(answer, serverNow()) };
    }
    function progressOf({ answer, texts }, from) {
        const named = [headerOf(answer, 'location'), (0,json/* firstName */.u$)(syncIn(answer), ['status_url', 'statusUrl'])];
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
            const result = expectSuccess(await call({ method: 'POST', target, headers, body: { branch } }, within));
            return { ...reportOf(result), progress: progressOf(result, target) };
        },
        async syncStatus(address, within, { throttled = true } = {}) {
            return reportOf(expectSuccess(await call({ method: 'GET', target: address, throttled }, within)));
        },
    };
}

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
    if (!isSuccess(answer) || !waited(headerOf(answer, 'preference-applied')) || entries === undefined) {
        return { kind: 'unsupported' };
    }
    const holder = entries.map((entry) => readListedLock(entry, texts)).find((lock) => lock?.path === path);
    return holder === undefined ? { kind: 'free' } : { kind: 'held', holder };
};

;// CONCATENATED MODULE: ./build/bundle/compiled/client/client.js


















function createClient(options) {
    const { requestTimeoutMs = 30_000, clock = clock_steadyClock, onWarning = () => undefined } = options;
    const baseUrl = new URL(options.baseUrl);
    const serverClock = createServerClock(clock);
    const connection = openConnection(baseUrl);
    const closing = new AbortController();
    const call = createCall({
        baseUrl,
        clock,
        serverClock,
        send: async (request, signal, texts) => readAnswer(await connection.send(request, signal), texts),
        timeoutMs: requestTimeoutMs,
        maxConnections: maxConnections,
        retries: options.retries ?? 4,
        secrets: [options.token],
        headers: {
            authorization: `Bearer ${options.token}`,
            accept: 'application/json, application/problem+json',
            'accept-encoding': 'identity',
            'user-agent': options.userAgent,
            ...(options.origin !== undefined && { referer: options.origin }),
        },
        sleep: options.sleep ?? time_limit_sleep,
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

// EXTERNAL MODULE: external "node:os"
var external_node_os_ = __webpack_require__(161);
// EXTERNAL MODULE: external "node:fs"
var external_node_fs_ = __webpack_require__(24);
// EXTERNAL MODULE: external "node:path"
var external_node_path_ = __webpack_require__(760);
// EXTERNAL MODULE: ./build/bundle/compiled/client/workspace-id.js
var workspace_id = __webpack_require__(228);
// EXTERNAL MODULE: ./build/bundle/compiled/interface/parsed.js
var parsed = __webpack_require__(296);
;// CONCATENATED MODULE: ./build/bundle/compiled/interface/ttl.js


const minTtl = { seconds: 1 };
const maxTtl = { seconds: 30 * 86_400 };
const withinLimits = (duration) => duration.seconds >= minTtl.seconds && duration.seconds <= maxTtl.seconds;
function parseTtl(text) {
    const duration = (0,interface_duration/* parseDuration */.E9)(text);
    if (!duration.ok)
        return duration;
    if (withinLimits(duration.value))
        return (0,parsed/* accepted */.q)(duration.value);
    return (0,parsed/* refused */.J)(`A lock lives for ${(0,interface_duration/* formatDuration */.a3)(minTtl)} at the least and ${(0,interface_duration/* formatDuration */.a3)(maxTtl)} at the most.`);
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/ledger/entry.js



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
    workspace: (id) => typeof id === 'string' && (0,workspace_id/* parseWorkspaceId */.m)(id).ok,
    path: (path) => typeof path === 'string' && (0,lock_path/* parseHeldPath */.yo)(path).ok,
};
const request = { ...address, step: isText, key: isText };
const isTtl = (ttl) => typeof ttl === 'string' && parseTtl(ttl).ok;
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
    workspace: parsedOrThrow((0,workspace_id/* parseWorkspaceId */.m)(workspace)),
    path: parsedOrThrow((0,lock_path/* parseHeldPath */.yo)(path)),
});
const parsedTtl = ({ ttl }) => parsedOrThrow(parseTtl(ttl));

;// CONCATENATED MODULE: ./build/bundle/compiled/action/ledger/ledger.js



const fileIn = (temporaryFolder, name) => (0,external_node_path_.join)(temporaryFolder, 'workspace-automation', name);
const ledger_ledgerFile = (temporaryFolder) => fileIn(temporaryFolder, 'ledger.jsonl');
const locksFile = (temporaryFolder, step) => fileIn(temporaryFolder, `locks-${step}.json`);
const fieldsOfService = new Set(['id', 'etag', 'type', 'owner', 'acquired_at', 'expires_at']);
const ledger_lockJson = (value, redact) => JSON.stringify(value, (name, member) => fieldsOfService.has(name) && typeof member === 'string' ? redact(member) : member);
function ledger_openLedger(file, redact) {
    return {
        file,
        append(...entries) {
            (0,external_node_fs_.mkdirSync)((0,external_node_path_.dirname)(file), { recursive: true, mode: 0o700 });
            const text = entries.map((entry) => `\n${ledger_lockJson(entry, redact)}\n`).join('');
            (0,external_node_fs_.appendFileSync)(file, text, { mode: 0o600 });
        },
        read() {
            const lines = (0,external_node_fs_.readFileSync)(file, 'utf8')
                .split('\n')
                .filter((line) => line !== '');
            const entries = lines.map(readEntry);
            const readable = entries.filter((entry) => entry !== undefined);
            return { entries: readable, damaged: entries.length - readable.length };
        },
    };
}
function ledger_createRecorder(ledger, log) {
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

// EXTERNAL MODULE: ./build/bundle/compiled/action/report/words.js
var words = __webpack_require__(46);
;// CONCATENATED MODULE: ./build/bundle/compiled/action/version.js
const version = '0.1.0';

;// CONCATENATED MODULE: ./build/bundle/compiled/action/context.js






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
    temporaryFolder: environment['RUNNER_TEMP'] || (0,external_node_os_.tmpdir)(),
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
        const text = `${why} Trying again in ${(0,words/* duration */.p0)(delayMs)}.`;
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
const connect = ({ baseUrl, token, requestTimeout, retries }, origin, log) => createClient({
    baseUrl,
    token,
    retries,
    requestTimeoutMs: (0,interface_duration/* milliseconds */.Rz)(requestTimeout),
    userAgent: `workspace-automation/${version}`,
    ...(origin !== undefined && { origin }),
    onWarning: log.warn,
    onRetry: logRetries(log),
    onThrottled: logPauses(log),
});
function createContext(connection, { log, setOutputs }, { saveState, redact }) {
    const runner = readRunner(process.env);
    const ledger = openLedger(ledgerFile(runner.temporaryFolder), redact);
    log.debug(`Service ${connection.baseUrl}, checkout ${runner.checkout}, ledger ${ledger.file}.`);
    return {
        connection,
        runner,
        client: connect(connection, runner.origin, log),
        ledger,
        record: createRecorder(ledger, log),
        log,
        setOutputs,
        saveState,
        redact,
        signal: cancellation(),
        clock: steadyClock,
        sleep,
        random: Math.random,
    };
}
const defaultLimitMs = 120_000;
const defaultLimits = ({ clock, connection, signal, }) => ({
    deadline: clock() + defaultLimitMs + milliseconds(connection.requestTimeout),
    signal,
});

// EXTERNAL MODULE: ./build/bundle/compiled/action/inputs/parse.js + 1 modules
var parse = __webpack_require__(21);
;// CONCATENATED MODULE: ./build/bundle/compiled/action/inputs/reader.js
const secretInputs = new Set(['token', 'hook-secret', 'hook-options', 'github-token', 'locks']);
const maxShown = 200;
const withoutCredentials = (text) => text.replace(/^.*@/s, '***@').replace(/([?#]).+$/s, (_, mark) => `${mark}***`);
const addressInputs = new Set(['base-url', 'hook-url']);
const quoted = (text) => JSON.stringify(text.length > maxShown ? `${text.slice(0, maxShown)}…` : text);
function inputText(name, text) {
    if (text === '')
        return `Input \`${name}\` is missing.`;
    if (secretInputs.has(name))
        return `Input \`${name}\` is not valid.`;
    return `Input \`${name}\` is ${quoted(addressInputs.has(name) ? withoutCredentials(text) : text)}.`;
}
const lineProblem = (name, line, why) => `Input \`${name}\` has the line ${quoted(line)}. ${why}`;
function reader_createReader(raw) {
    const problems = [];
    const complain = (name, why) => {
        problems.push(`${inputText(name, raw[name])} ${why}`);
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
function complete(fields) {
    return Object.values(fields).includes(undefined) ? undefined : fields;
}

// EXTERNAL MODULE: ./build/bundle/compiled/action/inputs/table.js
var table = __webpack_require__(332);
;// CONCATENATED MODULE: ./build/bundle/compiled/action/inputs/load.js





const maxWait = { seconds: 30 * 86_400 };
const parseWait = (0,parse/* parseDurationBetween */.GE)({ seconds: 0 }, maxWait);
const optionalJsonObject = (text) => (text === '' ? (0,parsed/* accepted */.q)({}) : (0,parse/* parseJsonObject */.dw)(text));
const load_readWorkspace = ({ read }) => read('workspace', parse/* parseWorkspace */.Vs);
function runBranch(environment) {
    const head = environment['GITHUB_HEAD_REF'];
    if (head !== undefined && head !== '')
        return head;
    const [, branch] = /^refs\/heads\/(.+)$/.exec(environment['GITHUB_REF'] ?? '') ?? [];
    return branch;
}
function load_readSync(reader, environment) {
    const parseBranch = (text) => {
        const branch = text || runBranch(environment);
        return branch === undefined
            ? (0,parsed/* refused */.J)('The run is not on a branch: name the branch to sync.')
            : (0,parse/* parseText */.r4)('It has to be the name of a branch.')(branch);
    };
    return complete({
        operation: 'sync',
        workspace: load_readWorkspace(reader),
        branch: reader.read('branch', parseBranch),
        wait: reader.read('wait', parseWait),
    });
}
function readPathLines({ read, raw, complainOfLine }) {
    const glob = read('glob', parse/* parseBoolean */.yG);
    const parsed = (0,parse/* lines */.Mn)(raw.path).map((line) => {
        const path = (0,parse/* parsePathLine */.t4)(line, glob ?? true);
        if (!path.ok)
            complainOfLine('path', line, path.why);
        return path;
    });
    const right = parsed.flatMap((path) => (path.ok ? [path.value] : []));
    return glob === undefined || right.length < parsed.length ? undefined : right;
}
function load_readLock(reader) {
    const { read, raw, complain } = reader;
    if ((0,parse/* lines */.Mn)(raw.path).length === 0)
        complain('path', 'Name what to lock, one path per line.');
    return complete({
        operation: 'lock',
        workspace: load_readWorkspace(reader),
        paths: readPathLines(reader),
        type: read('type', (0,parse/* parseText */.r4)('It has to be a kind of lock, such as exclusive.')),
        ttl: read('ttl', parseTtl),
        wait: read('wait', parseWait),
        autoRelease: read('auto-release', parse/* parseBoolean */.yG),
        onLost: read('on-lost', parse/* parseLossReaction */.mA),
    });
}
function readUnlockSelection(reader) {
    const { read, raw, complain } = reader;
    const paths = readPathLines(reader);
    const [name, another] = ['path', 'locks', 'locks-file'].filter((each) => raw[each] !== '');
    if (name === undefined) {
        complain('path', 'Name what to release: with `path`, `locks` or `locks-file`.');
        return undefined;
    }
    if (another !== undefined)
        complain(another, 'Give one of `path`, `locks` and `locks-file`, not several.');
    switch (name) {
        case 'path':
            return paths && { kind: 'paths', paths };
        case 'locks': {
            const locks = read('locks', parse/* parseHandoff */["in"]);
            return locks && { kind: 'locks', locks };
        }
        case 'locks-file':
            return { kind: 'locks-file', file: raw['locks-file'] };
    }
}
const readUnlock = (reader) => complete({
    operation: 'unlock',
    workspace: load_readWorkspace(reader),
    selection: readUnlockSelection(reader),
    force: reader.read('force', parse/* parseBoolean */.yG),
});
const parseGitHubToken = (0,parse/* parseToken */.pI)('With `changed-files: true` it has to be a GitHub token, in one piece. Leave it out to use the token of the job.');
function readLockScope(reader) {
    const { read, raw, complain } = reader;
    const paths = readPathLines(reader);
    const changedFiles = read('changed-files', parse/* parseBoolean */.yG);
    if (changedFiles === undefined)
        return undefined;
    if (!changedFiles)
        return paths && { kind: 'paths', paths };
    if (raw.path !== '') {
        complain('path', 'With `changed-files: true` the paths come from the pull request or push: give only one of the two.');
    }
    const githubToken = read('github-token', parseGitHubToken);
    const allowHttp = (0,parse/* parseBoolean */.yG)(raw['allow-http']);
    return githubToken === undefined
        ? undefined
        : { kind: 'changed-files', githubToken, allowHttp: allowHttp.ok && allowHttp.value };
}
const readListLocks = (reader) => complete({
    operation: 'list-locks',
    workspace: load_readWorkspace(reader),
    scope: readLockScope(reader),
    failIfLocked: reader.read('fail-if-locked', parse/* parseBoolean */.yG),
    ignoredOwners: (0,parse/* lines */.Mn)(reader.raw['ignore-owner']),
});
const readRegisterHook = (reader) => complete({
    operation: 'register-hook',
    workspace: load_readWorkspace(reader),
    url: reader.read('hook-url', parse/* parseHookUrl */.qE),
    events: (0,parse/* words */.aL)(reader.raw['hook-events']),
    secret: reader.raw['hook-secret'],
    options: reader.read('hook-options', optionalJsonObject),
});
function readConnection({ read }) {
    const allowHttp = read('allow-http', parse/* parseBoolean */.yG);
    return complete({
        baseUrl: read('base-url', (text) => (0,parse/* parseBaseUrl */.Q2)(text, allowHttp ?? true)),
        token: read('token', (0,parse/* parseToken */.pI)('It has to be an API token of the service, in one piece: pass it from a secret.')),
        requestTimeout: read('request-timeout', (0,parse/* parseDurationBetween */.GE)({ seconds: 1 }, { seconds: 3_600 })),
        retries: read('retries', (0,parse/* parseWholeNumber */.oA)(100)),
    });
}
const taskReaders = {
    sync: load_readSync,
    lock: load_readLock,
    unlock: readUnlock,
    'list-locks': readListLocks,
    'register-hook': readRegisterHook,
    'list-workspaces': () => ({ operation: 'list-workspaces' }),
    'list-branches': (reader) => complete({ operation: 'list-branches', workspace: load_readWorkspace(reader) }),
};
function loadInputs(getInput, environment) {
    const reader = createReader(readRawInputs(getInput, environment));
    const operation = reader.read('operation', parseOneOf(operations));
    const connection = readConnection(reader);
    const summary = reader.read('summary', parseBoolean);
    const task = operation && taskReaders[operation](reader, environment);
    if (reader.problems.length > 0 || connection === undefined || task === undefined || summary === undefined) {
        return { ok: false, problems: reader.problems };
    }
    return { ok: true, inputs: { connection, task, summary, unused: unusedInputs(getInput, task.operation) } };
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/ledger/saved-state.js



const saved_state_maxLength = 30_000;
function compact({ lock: { path, type, id, etag, acquired_at, fence, expires_at } }) {
    return { path, type, id, etag, acquired_at, fence, expires_at };
}
function formatSavedState(about, grants, redact) {
    const all = lockJson({ ...about, locks: grants.map(compact) }, redact);
    return all.length <= saved_state_maxLength ? all : JSON.stringify(about);
}
function parseSavedState(text) {
    let value;
    try {
        value = JSON.parse(text);
    }
    catch {
        return undefined;
    }
    if (typeof value !== 'object' || value === null)
        return undefined;
    const { service, workspace, outlivesJob, locks } = value;
    if (typeof service !== 'string' || typeof workspace !== 'string' || !(0,workspace_id/* parseWorkspaceId */.m)(workspace).ok)
        return undefined;
    return {
        service,
        workspace,
        outlivesJob: outlivesJob === true,
        locks: Array.isArray(locks) ? locks.filter(isGrantedLock) : undefined,
    };
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/locks/in-parallel.js
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

;// CONCATENATED MODULE: ./build/bundle/compiled/action/retry.js

function isTransient({ failure, status }) {
    if (failure.kind === 'aborted')
        return false;
    if (status !== undefined)
        return isTransientStatus(status);
    return (failure.kind === 'deadline' || failure.kind === 'timeout' || (failure.kind === 'connection' && !failure.untrusted));
}
function retry_retryAfterOf({ failure }) {
    return failure.kind === 'deadline' || failure.kind === 'refused' ? failure.retryAfterMs : undefined;
}
const minLastAttemptMs = 300;
const maxLastAttemptMs = 5_000;
const lastAttemptMs = (previousTookMs) => Math.min(maxLastAttemptMs, Math.max(minLastAttemptMs, 2 * previousTookMs));

;// CONCATENATED MODULE: ./build/bundle/compiled/action/locks/lookup.js

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
        if (!(error instanceof ServiceError))
            throw error;
        const result = refusesLists(error) ? { kind: 'unknown' } : { kind: 'failed', error };
        return () => result;
    }
}
async function lookUp(client, { workspace, path }, within) {
    return (await lookupIn(client.listLocks({ workspace, filter: { path } }, within)))(path);
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/locks/ownership.js
const ownership_answerClockMs = 1_000;
const clockSlackMs = 2 * ownership_answerClockMs;
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

;// CONCATENATED MODULE: ./build/bundle/compiled/action/locks/release.js



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
        const found = await lookUp(client, request, within);
        if (found.kind === 'failed')
            return found;
        const ownership = found.kind === 'locked' ? compare(lock, found.lock) : found.kind;
        if (ownership === 'lost') {
            return sent ? { kind: 'released' } : { kind: 'lost', holder: found.kind === 'locked' ? found.lock : undefined };
        }
        const unsure = doubtful || sent || isOver(lock, client.serverNow());
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
        if (!isTransient(error) || clock() + pauseMs >= within.deadline)
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
    switch (compare(before.lock, after.lock)) {
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
    return judgeByLook(found, await lookUp(client, request, within), result.error);
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

;// CONCATENATED MODULE: ./build/bundle/compiled/action/locks/session.js




function grantedLock(taken, ttl, serverNow) {
    const { path, type, id, etag, owner, acquired_at, fence, expires_at } = taken;
    const end = expires_at ?? new Date(serverNow + ttl.seconds * 1_000).toISOString();
    return { path, type, id, etag, owner, acquired_at, fence, expires_at: end };
}
function openLockSession(context) {
    const { client, clock, record, step, origin, announce } = context;
    const firstAsked = new Map();
    const askedWith = new Map();
    let announced = false;
    let serviceAnswered = false;
    const now = () => new Date(client.serverNow()).toISOString();
    function askedAt({ key, at, byService }) {
        const here = askedWith.get(key);
        if (here !== undefined)
            return client.serverNow() - (clock() - here);
        return byService ? Date.parse(at) : Number.NaN;
    }
    function canBeOurs(holder, intent) {
        if (holder?.origin !== undefined && origin !== undefined && holder.origin !== origin)
            return false;
        return !(Date.parse(holder?.acquired_at ?? '') < askedAt(intent) - clockSlackMs);
    }
    function isNewGrant(lock, replayed, sentAt) {
        if (replayed)
            return false;
        const acquired = Date.parse(lock.acquired_at ?? '');
        return Number.isNaN(acquired) ? undefined : acquired >= client.serverNow() - (clock() - sentAt) - clockSlackMs;
    }
    async function ask(intent, keySentBefore, within) {
        const { service, key, type } = intent;
        const { workspace, path } = parsedAddress(intent);
        const ttl = parsedTtl(intent);
        if (!firstAsked.has(path))
            firstAsked.set(path, clock());
        if (!keySentBefore)
            askedWith.set(key, clock());
        const sentAt = clock();
        const acquisition = await client.acquireLock({ workspace, path, type, ttl, idempotencyKey: key, keySentBefore }, within);
        const entry = { service, workspace, path, step, key };
        switch (acquisition.kind) {
            case 'acquired': {
                const lock = grantedLock(acquisition.lock, ttl, client.serverNow());
                const waitedMs = Math.round(clock() - (firstAsked.get(path) ?? clock()));
                const grant = { kind: 'granted', ...entry, waitedMs, lock, at: now() };
                record(grant);
                const isNew = !keySentBefore || isNewGrant(acquisition.lock, acquisition.replayed, sentAt);
                return { kind: 'acquired', grant, isNew };
            }
            case 'held': {
                const { holder, retryAfterMs, error, mayBeOurs } = acquisition;
                const conflict = { path, holder, retryAfterMs, error };
                if (mayBeOurs && canBeOurs(holder, intent))
                    return { kind: 'unclear', intent, error, conflict };
                record({ kind: 'denied', ...entry, at: now() });
                return { kind: 'held', ...conflict };
            }
            case 'unclear':
                return { kind: 'unclear', intent, error: acquisition.error, conflict: undefined };
            case 'failed':
                record({ kind: 'denied', ...entry, at: now() });
                return { kind: 'failed', error: acquisition.error };
        }
    }
    return {
        async acquire(path, { service, workspace, type, ttl }, within) {
            const intent = {
                kind: 'intent',
                service,
                workspace,
                path,
                step,
                key: crypto.randomUUID(),
                type,
                ttl: (0,interface_duration/* formatDuration */.a3)(ttl),
                at: now(),
                byService: serviceAnswered,
            };
            record(intent);
            if (!announced)
                announce();
            announced = true;
            const result = await ask(intent, false, within);
            serviceAnswered ||= result.kind === 'acquired' || result.kind === 'held';
            return result;
        },
        settle: (intent, within) => ask(intent, true, within),
        release(grant, within, doubtful = false) {
            const lock = { ...grant.lock, grantedAt: grant.at };
            const target = { kind: 'own', lock, doubtful };
            return releaseLock(context, { service: grant.service, ...parsedAddress(grant), target }, within);
        },
    };
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/ledger/history.js

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
        const path = parseLockPath(lock.grant.path);
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

;// CONCATENATED MODULE: ./build/bundle/compiled/action/post-step/claims.js





function locksIn(file) {
    try {
        const locks = JSON.parse((0,external_node_fs_.readFileSync)(file, 'utf8'));
        return Array.isArray(locks) ? locks.filter(isGrantedLock) : [];
    }
    catch {
        return [];
    }
}
function savedGrants({ savedState, step, locksFile }) {
    if (savedState === undefined)
        return [];
    const { service, workspace } = savedState;
    return (savedState.locks ?? locksIn(locksFile))
        .filter(({ path }) => (0,lock_path/* parseHeldPath */.yo)(path).ok)
        .map((lock) => {
        const { path } = lock;
        return { kind: 'granted', service, workspace, path, step, at: '', key: '', waitedMs: 0, lock };
    });
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
function readClaims(records) {
    const { ledger, step } = records;
    const { entries, trouble: unreadable } = readLedger(ledger);
    const history = historyOf(entries);
    const held = history.held.filter(({ grant }) => grant.step === step);
    const unclear = history.unclear.filter((intent) => intent.step === step);
    const mentioned = new Set(entries.flatMap((entry) => (entry.kind === 'granted' ? [claims_keyOf(entry.lock)] : [])));
    const missing = savedGrants(records).filter(({ lock }) => !mentioned.has(claims_keyOf(lock)));
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

;// CONCATENATED MODULE: ./build/bundle/compiled/action/locks/messages.js



const pastMoment = (time, now) => (0,words/* moment */.n$)(time, Math.max(now, time + 1));
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
const unprovenText = ({ path, ttl, at }) => `It is not known whether this step locked ${path}: its request at ${at} got no answer, and the service does not say now. If it did, that lock ends ${ttl} after it was taken.`;
const hourInMinutes = 60;
function later(minutes) {
    const step = [1, 5, 15, hourInMinutes].findLast((each) => minutes >= 2 * each) ?? 1;
    return (Math.floor(minutes / step) + 1) * step;
}
const maxSuggestion = 6 * hourInMinutes;
function waitAdvice(expiresAt, now) {
    const ms = expiresAt === undefined ? Number.NaN : Date.parse(expiresAt) - now;
    const minutes = Math.ceil((ms - answerClockMs) / 60_000);
    if (!(ms > 0) || minutes > maxSuggestion)
        return 'Set `wait` to wait for it.';
    return `Set \`wait: ${formatDuration({ seconds: later(minutes) * 60 })}\` to wait for it.`;
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
    const until = Number.isNaN(soonest) ? '' : `, until ${moment(soonest, now)}`;
    const paths = listed(own.map(({ path }) => path), maxNamed);
    const who = `This job already holds ${paths}: ${steps} locked ${own.length === 1 ? 'it' : 'them'}${until}.`;
    const release = 'release what is not needed any more with `operation: unlock`';
    if (own.length < asked.paths.length) {
        return `${who} Name only the other paths in this step, or ${release} before this step.`;
    }
    return soonest - now >= (asked.ttl.seconds * 1_000) / 2
        ? `${who} Those are all paths of this step, for at least half of its \`ttl\` of ${formatDuration(asked.ttl)}: leave this step out, or ${release} before it.`
        : `${who} Those are all paths of this step: leave it out and raise the \`ttl\` of the earlier step, or ${release} before it.`;
}

// EXTERNAL MODULE: ./build/bundle/compiled/action/outcome.js
var outcome = __webpack_require__(776);
;// CONCATENATED MODULE: ./build/bundle/compiled/action/post-step/report.js







const shellQuoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
function manualReleaseCommand(grant) {
    const { service, lock } = grant;
    const { workspace, path } = parsedAddress(grant);
    const tag = lock.etag ?? (lock.id === undefined ? undefined : `"${lock.id}"`);
    const condition = tag === undefined ? '' : ` -H ${shellQuoted(`If-Match: ${tag}`)}`;
    const address = `${service}/workspaces/${encodeURIComponent(workspace)}/locks/${(0,lock_path/* asOneSegment */.IH)(path)}`;
    return `curl -X DELETE -H 'Authorization: Bearer <API_TOKEN>'${condition} ${shellQuoted(address)}`;
}
const report_words = {
    lost: 'lost to another holder',
    failed: 'not released',
    replaced: 'held by somebody else now, left alone',
    'left-alone': 'cannot be told apart from a lock of somebody else, left alone',
    unproven: 'not known to be ours, left alone',
    gone: 'was gone already',
    released: 'released',
    'never-granted': 'was never granted',
};
const order = Object.keys(report_words);
const pathOf = (result) => ('grant' in result ? result.grant.path : result.intent.path);
const endOf = (result) => 'grant' in result ? Date.parse(result.grant.lock.expires_at) : Number.NaN;
const report_isOver = (result, now) => endOf(result) <= now + ownership_answerClockMs;
const untilText = (result, now) => {
    const end = endOf(result);
    if (Number.isNaN(end))
        return '';
    return report_isOver(result, now) ? `its lifetime ended at ${pastMoment(end, now)}` : `held until ${(0,words/* moment */.n$)(end, now)}`;
};
const report_maxNamed = 5;
function several(all, text) {
    const more = all.length - report_maxNamed;
    const rest = more > 0 ? ` And ${(0,words/* count */.U9)(more, 'more', 'more')}: see the log of the step.` : '';
    return all.slice(0, report_maxNamed).map(text).join(' ') + rest;
}
function lostText(lost, now) {
    const { grant, holder } = lost;
    const end = endOf(lost);
    const had = report_isOver(lost, now) || end <= Date.parse(holder?.acquired_at ?? '');
    const when = had
        ? ` It had ended at ${pastMoment(end, now)}; a longer \`ttl\` would have kept it.`
        : ' Somebody had released it before its end.';
    return `The lock on ${grant.path} was lost while the job relied on it.${when} ${heldText(grant.path, holder, now, true)}; that lock has been left alone.`;
}
function failedText(failed, now) {
    const [first] = failed;
    const itself = failed.length === 1 ? 'ends by itself' : 'end by themselves';
    const each = several(failed, (one) => {
        const { path, lock } = one.grant;
        const about = [lock.id === undefined ? '' : `id ${lock.id}`, untilText(one, now)].filter((text) => text !== '');
        return `${path}${about.length > 0 ? ` (${about.join(', ')})` : ''}: ${manualReleaseCommand(one.grant)}.`;
    });
    return `${(0,words/* count */.U9)(failed.length, 'lock')} could not be released and ${itself}. ${first?.why ?? ''} To release it yourself: ${each}`;
}
const replacedText = ({ grant, holder }, now) => `${heldText(grant.path, holder, now, true)}, and is left alone: it is not known whether the job had already released its own lock.`;
const leftAloneText = (left, now) => `The service gave nothing to tell the lock on ${left.grant.path} (${untilText(left, now)}) from another: what is there now has been left alone.`;
const overText = (over, now) => `The lock on ${over.grant.path} had ended at ${pastMoment(endOf(over), now)}, before the job did.`;
function warningsOf(results, now) {
    const failed = (0,outcome/* ofKind */.CZ)(results, 'failed');
    const over = (0,outcome/* ofKind */.CZ)(results, 'gone').filter((one) => report_isOver(one, now));
    const warnings = [
        failed.length > 0 ? failedText(failed, now) : '',
        several((0,outcome/* ofKind */.CZ)(results, 'replaced'), (one) => replacedText(one, now)),
        several((0,outcome/* ofKind */.CZ)(results, 'left-alone'), (one) => leftAloneText(one, now)),
        several((0,outcome/* ofKind */.CZ)(results, 'unproven'), ({ intent, why }) => `${unprovenText(intent)} ${why}`),
        several(over, (one) => overText(one, now)) +
            (over.length > 0 ? ' A longer `ttl` would have kept what the job relied on.' : ''),
    ];
    return warnings.filter((text) => text !== '');
}
function lineOf(result, now) {
    const id = 'grant' in result ? result.grant.lock.id : undefined;
    const details = result.kind === 'failed' ? [untilText(result, now), id && `id ${id}`].filter(Boolean).join(', ') : '';
    return `${pathOf(result)}: ${report_words[result.kind]}${details === '' ? '' : ` (${details})`}`;
}
const nothingLeft = 'Nothing was left to release at the end of the job.';
function releaseReport(results, { chart, now, onLost }) {
    const sorted = results.toSorted((one, other) => order.indexOf(one.kind) - order.indexOf(other.kind) || (pathOf(one) < pathOf(other) ? -1 : 1));
    const released = (0,outcome/* ofKind */.CZ)(results, 'released').length;
    const lost = (0,outcome/* ofKind */.CZ)(sorted, 'lost');
    const others = Object.entries(report_words)
        .filter(([kind]) => kind !== 'released' && kind !== 'never-granted')
        .map(([kind, word]) => [results.filter((one) => one.kind === kind).length, word])
        .filter(([number]) => number > 0)
        .map(([number, word]) => `, ${(0,words/* grouped */.zD)(number)} ${word}`);
    return {
        sentence: results.length === 0
            ? nothingLeft
            : `Released ${(0,words/* count */.U9)(released, 'lock')} at the end of the job${others.join('')}.`,
        table: {
            head: ['Path', 'Result', 'Ends', 'Id'],
            rows: sorted.map((one) => [
                pathOf(one),
                report_words[one.kind],
                Number.isNaN(endOf(one)) ? '' : (0,words/* clockTime */.qo)(endOf(one), now),
                'grant' in one ? (one.grant.lock.id ?? '') : '',
            ]),
        },
        chart,
        failures: onLost === 'fail' ? lost.map((one) => lostText(one, now)) : [],
        warnings: [
            ...(onLost === 'warn' && lost.length > 0 ? [several(lost, (one) => lostText(one, now))] : []),
            ...warningsOf(sorted, now),
        ],
        lines: sorted.map((one) => lineOf(one, now)),
    };
}
const maxRows = 30;
const minWaitMs = 1_000;
const report_maxNameLength = 60;
function nameOf(path) {
    const plain = path.replace(/[^\p{L}\p{M}\p{N} ._/()+=-]/gu, '_');
    const letters = [...plain];
    return letters.length <= report_maxNameLength ? plain : `…${letters.slice(1 - report_maxNameLength).join('')}`;
}
function rowOf({ path, asked, granted, ended, released }) {
    const from = Math.round(asked);
    const since = Math.round(granted);
    const until = Math.max(Math.round(ended), since + 1);
    const waited = since - from >= minWaitMs ? `    waited :done, ${from}, ${since}\n` : '';
    const held = released ? 'held :active' : 'not released :crit';
    return `    section ${nameOf(path)}\n${waited}    ${held}, ${since}, ${until}\n`;
}
const isDrawable = ({ asked, granted, ended }) => [asked, granted, ended].every((time) => time >= 0 && Number.isFinite(time));
function gantt(bars) {
    const drawable = bars.filter(isDrawable).toSorted(outcome/* byPath */.f2);
    if (drawable.length === 0)
        return undefined;
    const rows = drawable.slice(0, maxRows).map(rowOf);
    const more = drawable.length - rows.length;
    const rest = more === 0 ? '' : `\nThe chart shows the first ${maxRows} of ${(0,words/* grouped */.zD)(drawable.length)} locks.\n`;
    return `\`\`\`mermaid\ngantt\n    dateFormat x\n    axisFormat %H:%M:%S\n${rows.join('')}\`\`\`\n${rest}`;
}
function chartOf(ledger, { step, without, now, redact }) {
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
            path: redact(grant.path),
            asked: granted - grant.waitedMs,
            granted,
            ended: ending === undefined ? now : Date.parse(ending.at),
            released: ending !== undefined,
        };
    });
    return gantt(bars);
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/post-step/release.js














const lostOr = ({ grant, doubt }, holder) => {
    switch (doubt) {
        case undefined:
            return { kind: 'lost', grant, holder };
        case 'release-begun':
            return { kind: 'gone', grant };
        case 'records-damaged':
            return { kind: 'replaced', grant, holder };
    }
};
const elsewhere = (service, now) => `It is on ${service}, and \`base-url\` (or WORKSPACE_BASE_URL) names ${now} by now.`;
const unreleased = ({ held, unclear }, why) => [
    ...held.map(({ grant }) => ({ kind: 'failed', grant, why })),
    ...unclear.map((intent) => ({ kind: 'unproven', intent, why })),
];
const release_firstPauseMs = 1_000;
const release_maxPauseMs = 8_000;
const release_never = new AbortController().signal;
const longestTtlFirst = (all, endOf) => all.toSorted((one, other) => (endOf(other) || 0) - (endOf(one) || 0));
const endOfClaim = ({ grant }) => Date.parse(grant.lock.expires_at);
const endOfIntent = (intent) => Date.parse(intent.at) + parsedTtl(intent).seconds * 1_000;
async function releaseClaims({ session, clock, sleep, random }, service, { held, unclear, trouble }, within) {
    const results = [];
    let releaseBegun;
    async function release(claim) {
        const { grant, doubt = releaseBegun } = claim;
        if (grant.service !== service) {
            return { result: { kind: 'failed', grant, why: elsewhere(grant.service, service) } };
        }
        const released = await session.release(grant, within, doubt !== undefined);
        switch (released.kind) {
            case 'released':
                return { result: { kind: 'released', grant } };
            case 'absent':
                return { result: { kind: 'gone', grant } };
            case 'lost':
                return { result: lostOr({ grant, doubt }, released.holder) };
            case 'left-alone':
                return { result: { kind: 'left-alone', grant } };
            case 'unclear':
            case 'failed':
                return { result: { kind: 'failed', grant, why: released.error.message }, error: released.error };
        }
    }
    async function settle(intent) {
        if (intent.service !== service) {
            return { result: { kind: 'unproven', intent, why: elsewhere(intent.service, service) } };
        }
        const settlement = await session.settle(intent, within);
        switch (settlement.kind) {
            case 'acquired': {
                const doubt = trouble === undefined ? releaseBegun : 'records-damaged';
                const released = await release({ grant: settlement.grant, doubt });
                const neverGranted = released.result.kind === 'released' && settlement.isNew === true;
                return neverGranted ? { result: { kind: 'never-granted', intent } } : released;
            }
            case 'held':
                return { result: { kind: 'never-granted', intent } };
            case 'failed':
            case 'unclear':
                return { result: { kind: 'unproven', intent, why: settlement.error.message }, error: settlement.error };
        }
    }
    async function attemptAll(all) {
        const again = [];
        await inParallel(all, async ({ attempt, before }) => {
            const now = await attempt();
            if (now.error === undefined || !isTransient(now.error))
                results.push(now.result);
            else
                again.push({ attempt, before: (before?.error?.attempts ?? 0) > now.error.attempts && before ? before : now });
        });
        return again;
    }
    let claims = longestTtlFirst(held, endOfClaim).map((one) => ({ attempt: () => release(one) }));
    let intents = longestTtlFirst(unclear, endOfIntent).map((one) => ({
        attempt: () => settle(one),
    }));
    for (let pauseMs = release_firstPauseMs;; pauseMs = Math.min(release_maxPauseMs, 2 * pauseMs)) {
        const failedClaims = await attemptAll(claims);
        const failedIntents = await attemptAll(intents);
        const failed = [...failedClaims, ...failedIntents];
        const pause = pauseMs * (0.5 + random() / 2);
        const isOver = within.signal?.aborted === true || clock() + pause >= within.deadline;
        if (failed.length === 0 || isOver)
            return [...results, ...failed.map(({ before }) => before.result)];
        claims = failedClaims;
        intents = failedIntents;
        releaseBegun = 'release-begun';
        await sleep(pause, within.signal ?? release_never);
    }
}
const timeLimitMs = 45_000;
const maxRequestTimeout = { seconds: 10 };
const retries = 1_000;
function quiet(log) {
    let said = false;
    return {
        ...log,
        line(text) {
            if (said)
                log.debug(text);
            else
                log.line(text);
            said = true;
        },
    };
}
function lossReaction(saved, input) {
    const [first] = [saved, input].map(parse/* parseLossReaction */.mA).filter((parsed) => parsed.ok);
    return first?.value ?? 'fail';
}
async function releaseStep({ step, state, raw, redact, reporter }) {
    const { log } = reporter;
    const cancelled = cancellation();
    const savedState = parseSavedState(state('locks'));
    if (savedState?.outlivesJob) {
        log.line('The locks of this step outlive the job: `auto-release` is false.');
        return;
    }
    const { temporaryFolder, origin } = readRunner(process.env);
    const ledger = ledger_openLedger(ledger_ledgerFile(temporaryFolder), redact);
    const claims = readClaims({ ledger, step, locksFile: locksFile(temporaryFolder, step), savedState });
    if (claims.trouble !== undefined)
        log.warn(claims.trouble);
    const nothing = claims.held.length === 0 && claims.unclear.length === 0;
    if (nothing && savedState === undefined) {
        if (claims.trouble === undefined)
            log.line(nothingLeft);
        return;
    }
    async function releaseAll() {
        if (nothing)
            return { results: [], now: Date.now() };
        const reader = reader_createReader(raw);
        const connection = readConnection(reader);
        if (connection === undefined)
            return { results: unreleased(claims, reader.problems.join(' ')), now: Date.now() };
        const { baseUrl, requestTimeout } = connection;
        const seconds = Math.min(requestTimeout.seconds, maxRequestTimeout.seconds);
        const client = connect({ ...connection, retries, requestTimeout: { seconds } }, origin, quiet(log));
        const within = cleanupLimits(clock_steadyClock, timeLimitMs, cancelled);
        try {
            const time = { clock: clock_steadyClock, sleep: time_limit_sleep, random: Math.random };
            const record = ledger_createRecorder(ledger, { warn: log.debug });
            const session = openLockSession({ ...time, client, record, step, origin, announce: () => undefined });
            const results = await releaseClaims({ ...time, session }, baseUrl, claims, within);
            return { results, now: client.serverNow() };
        }
        finally {
            within.lift();
            client.dispose();
        }
    }
    const { results, now } = await releaseAll();
    const without = new Set(results.flatMap((one) => (one.kind === 'never-granted' ? [one.intent.key] : [])));
    const chart = chartOf(ledger, { step, without, now, redact });
    const summary = (0,parse/* parseBoolean */.yG)(raw.summary);
    const report = releaseReport(results, { chart, now, onLost: lossReaction(state('on-lost'), raw['on-lost']) });
    await reporter.finishRelease(report, !summary.ok || summary.value);
}


/***/ }),

/***/ 157:
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
