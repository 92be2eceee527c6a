export const id = 115;
export const ids = [115];
export const modules = {

/***/ 654:
/***/ ((__unused_webpack_module, exports) => {



exports.fetch = function fetchIsNotInThisBundle() {
  throw new Error("The fetch of undici is not part of this bundle. Use one's own instead.");
};

// The toolkit makes one as soon as it is loaded where a proxy is set, for the fetch above and nothing else.
exports.ProxyAgent = class ProxyAgent {};


/***/ }),

/***/ 8730:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  lookUpChangedFiles: () => (/* binding */ lookUpChangedFiles)
});

// EXTERNAL MODULE: ./build/bundle/compiled/client/client.js + 9 modules
var client = __webpack_require__(2683);
// EXTERNAL MODULE: ./build/bundle/compiled/interface/lock-path.js
var lock_path = __webpack_require__(5860);
// EXTERNAL MODULE: ./build/bundle/compiled/action/changed-files/change.js
var changed_files_change = __webpack_require__(2661);
// EXTERNAL MODULE: ./node_modules/@actions/github/lib/github.js + 22 modules
var github = __webpack_require__(2413);
// EXTERNAL MODULE: ./build/bundle/compiled/client/answer.js
var client_answer = __webpack_require__(3203);
// EXTERNAL MODULE: ./build/bundle/compiled/client/call.js + 2 modules
var client_call = __webpack_require__(4932);
// EXTERNAL MODULE: ./build/bundle/compiled/client/clock.js
var client_clock = __webpack_require__(5064);
// EXTERNAL MODULE: ./build/bundle/compiled/client/connection.js
var client_connection = __webpack_require__(2073);
// EXTERNAL MODULE: ./build/bundle/compiled/client/refusal.js + 1 modules
var refusal = __webpack_require__(3004);
// EXTERNAL MODULE: ./build/bundle/compiled/interface/duration.js
var duration = __webpack_require__(4393);
// EXTERNAL MODULE: ./build/bundle/compiled/action/context.js
var action_context = __webpack_require__(1659);
// EXTERNAL MODULE: ./build/bundle/compiled/action/version.js
var version = __webpack_require__(4596);
;// CONCATENATED MODULE: ./build/bundle/compiled/action/changed-files/github.js









const defaultWaitSeconds = '60';
function retryAfterSeconds({ status, headers, bytes }) {
    if (status !== 403 && status !== 429)
        return undefined;
    if (headers['retry-after'] !== undefined)
        return headers['retry-after'];
    const reset = Number(headers['x-ratelimit-reset']);
    if (headers['x-ratelimit-remaining'] === '0' && reset > 0) {
        const now = (0,client_clock/* dateOf */.Q$)(headers) ?? Date.now();
        return String(Math.max(0, Math.ceil(reset - now / 1_000)));
    }
    return /secondary rate limit/i.test(new TextDecoder().decode(bytes)) ? defaultWaitSeconds : undefined;
}
function asTooMany(received) {
    const wait = retryAfterSeconds(received);
    if (wait === undefined)
        return received;
    return { ...received, status: 429, headers: { ...received.headers, 'retry-after': wait } };
}
const maxConnections = 4;
function openGitHubCall(apiUrl, token, context) {
    const { clock, sleep, random, log } = context;
    const { requestTimeout, retries } = context.connection;
    const onRetry = (0,action_context/* logRetries */.zh)(log);
    const connection = (0,client_connection/* openConnection */.JY)(apiUrl);
    const closing = new AbortController();
    const call = (0,client_call/* createCall */.j)({
        baseUrl: apiUrl,
        clock,
        serverClock: (0,client_clock/* createServerClock */.my)(clock),
        send: async (request, signal, texts) => (0,client_answer/* readAnswer */.JN)(asTooMany(await connection.send(request, signal)), texts),
        timeoutMs: (0,duration/* milliseconds */.Rz)(requestTimeout),
        maxConnections,
        retries,
        secrets: [token],
        headers: { 'accept-encoding': 'identity' },
        sleep,
        random,
        closed: closing.signal,
        onAnswer: () => undefined,
        onRetry: (retry) => onRetry({ ...retry, why: `GitHub: ${retry.why}` }),
        onThrottled: () => undefined,
    });
    return {
        call,
        close() {
            closing.abort();
            connection.close();
        },
    };
}
const maxRedirects = 5;
function leadsElsewhere({ answer, texts, fail }, target) {
    const where = texts.line(target.origin, 200);
    const why = `it leads to ${where}, which is another server, and the token must not go there`;
    return fail((0,refusal/* notUnderstood */.hf)(answer, texts, why));
}
function createGitHubFetch(call, apiUrl, within) {
    async function read(target, headers) {
        const outcome = await call({ method: 'GET', target: target.pathname + target.search, headers }, within);
        if (outcome.kind === 'given-up')
            throw outcome.error;
        return outcome;
    }
    return async (address, { method, headers }) => {
        if (method !== 'GET')
            throw new Error(`${method} is more than reading, which is all that is done at GitHub.`);
        let target = new URL(address);
        if (target.origin !== apiUrl.origin) {
            throw new Error(`An answer of GitHub leads to another server, ${target.origin}, and the token must not go there.`);
        }
        let outcome = await read(target, headers);
        for (let redirects = 0; redirects < maxRedirects && !(0,client_answer/* isSuccess */.oJ)(outcome.answer); redirects += 1) {
            const location = (0,client_answer/* headerOf */.rR)(outcome.answer, 'location');
            const { status } = outcome.answer;
            if (status < 300 || status > 399 || location === undefined || !URL.canParse(location, target.href))
                break;
            target = new URL(location, target);
            if (target.origin !== apiUrl.origin)
                throw leadsElsewhere(outcome, target);
            outcome = await read(target, headers);
        }
        const { answer, texts } = outcome;
        if (!(0,client_answer/* isSuccess */.oJ)(answer))
            throw outcome.refuse(answer);
        const wrong = (0,refusal/* unusable */._P)(answer, texts);
        if (answer.body.kind !== 'json' || wrong !== undefined)
            throw wrong ? outcome.fail(wrong) : outcome.refuse(answer);
        const link = (0,client_answer/* headerOf */.rR)(answer, 'link');
        return new Response(JSON.stringify(answer.body.value), {
            headers: { 'content-type': 'application/json', ...(link !== undefined && { link }) },
        });
    };
}
const reasonOf = (error) => error instanceof Error && error.cause instanceof Error ? error.cause : error;
function openGitHub({ apiUrl, repository, token }, context, within) {
    const { call, close } = openGitHubCall(new URL(apiUrl), token, context);
    const octokit = (0,github/* getOctokit */.Q)(token, {
        baseUrl: apiUrl,
        userAgent: `workspace-automation/${version/* version */.r}`,
        request: { fetch: createGitHubFetch(call, new URL(apiUrl), within) },
    });
    async function ask(route, parameters = {}) {
        try {
            const { data, headers } = await octokit.request(route, {
                ...parameters,
                headers: { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' },
            });
            return { body: data, next: (0,client_answer/* parseLinks */.hO)(headers.link).get('next') };
        }
        catch (error) {
            throw reasonOf(error);
        }
    }
    const first = (path, parameters) => ask(`GET /repos/{owner}/{repo}/${path}`, { ...repository, ...parameters });
    return {
        close,
        read: async (path, parameters) => (await first(path, parameters)).body,
        async *pages(path, parameters) {
            const seen = new Set();
            let page = await first(path, parameters);
            yield page.body;
            while (page.next !== undefined) {
                if (seen.has(page.next))
                    throw new Error('GitHub names a page as the next that was there before.');
                seen.add(page.next);
                page = await ask(`GET ${new URL(page.next, `${apiUrl}/`).href}`);
                yield page.body;
            }
        },
    };
}

// EXTERNAL MODULE: ./build/bundle/compiled/client/json.js
var json = __webpack_require__(5395);
// EXTERNAL MODULE: ./build/bundle/compiled/action/locks/in-parallel.js
var in_parallel = __webpack_require__(2982);
// EXTERNAL MODULE: ./build/bundle/compiled/action/report/words.js
var words = __webpack_require__(1046);
;// CONCATENATED MODULE: ./build/bundle/compiled/action/changed-files/listed-files.js



function readFile(entry) {
    if (!(0,json/* isObject */.Gv)(entry))
        return undefined;
    const name = (0,json/* nameIn */.ZC)(entry['filename']);
    const before = entry['status'] === 'copied' ? undefined : (0,json/* nameIn */.ZC)(entry['previous_filename']);
    return name === undefined ? undefined : { name, before };
}
function readFiles(list) {
    const files = (0,json/* isArray */.cy)(list) ? list.map(readFile) : [undefined];
    if (!files.every((file) => file !== undefined))
        throw new Error('GitHub gave a list of files that cannot be read.');
    return files;
}
const maxPullRequestFiles = 3_000;
const maxTurns = 3;
const pauseMs = 1_000;
async function readState(github, number) {
    const pull = (0,json/* asObject */.eB)(await github.read('pulls/{number}', { number }));
    const head = (0,json/* nameIn */.ZC)((0,json/* asObject */.eB)(pull['head'])['sha']);
    const base = (0,json/* nameIn */.ZC)((0,json/* asObject */.eB)(pull['base'])['sha']);
    const changedFiles = pull['changed_files'];
    if (head === undefined || base === undefined || typeof changedFiles !== 'number') {
        throw new Error('GitHub does not say of the pull request how many files it changes, and between which commits.');
    }
    return { commits: `${base}...${head}`, changedFiles };
}
async function pullRequestFiles(github, number, pause) {
    let seen = 'It did not stay the same while its files were listed.';
    for (let turn = 1; turn <= maxTurns; turn += 1) {
        if (turn > 1)
            await pause(pauseMs);
        const before = await readState(github, number);
        if (before.changedFiles > maxPullRequestFiles) {
            throw new Error(`It changes ${(0,words/* count */.U9)(before.changedFiles, 'file')}, and GitHub lists ${(0,words/* grouped */.zD)(maxPullRequestFiles)} at the most. Split it, or name the files with \`path\` instead.`);
        }
        const files = new Map();
        for await (const page of github.pages('pulls/{number}/files', { number, per_page: 100 })) {
            for (const file of readFiles(page))
                files.set(file.name, file);
        }
        const after = await readState(github, number);
        if (after.commits !== before.commits || after.changedFiles !== before.changedFiles)
            continue;
        if (files.size >= after.changedFiles)
            return [...files.values()];
        seen = `GitHub says that it changes ${(0,words/* count */.U9)(after.changedFiles, 'file')}, and lists ${(0,words/* grouped */.zD)(files.size)}.`;
    }
    throw new Error(`${seen} Run the job again, or name the files with \`path\`.`);
}
const commitPageSize = 300;
const maxCommitFiles = 3_000;
async function commitFiles(github, commit) {
    const files = [];
    let pages = 0;
    for await (const page of github.pages('commits/{commit}', { commit })) {
        files.push(...readFiles((0,json/* asObject */.eB)(page)['files']));
        pages += 1;
    }
    const tooMany = new Error(`GitHub lists ${(0,words/* grouped */.zD)(files.length)} files of the commit ${commit.slice(0, 7)}, and there may be more. Name the files with \`path\` instead.`);
    if (files.length >= maxCommitFiles)
        throw tooMany;
    if (files.length > 0 && files.length === pages * commitPageSize) {
        const rest = await github.read('commits/{commit}', { commit, page: pages + 1 });
        if (readFiles((0,json/* asObject */.eB)(rest)['files'] ?? []).length > 0)
            throw tooMany;
    }
    return files;
}
const maxComparedFiles = 300;
function addParents(list, to) {
    const commits = (0,json/* isArray */.cy)(list) ? list.map(json/* asObject */.eB) : [{}];
    for (const { sha, parents } of commits) {
        const commit = (0,json/* nameIn */.ZC)(sha);
        if (commit === undefined)
            throw new Error('GitHub gave a list of commits that cannot be read.');
        const [first] = (0,json/* isArray */.cy)(parents) ? parents : [];
        to.set(commit, (0,json/* nameIn */.ZC)((0,json/* asObject */.eB)(first)['sha']));
    }
}
function mainLine(head, parents) {
    const commits = [];
    let next = head;
    while (next !== undefined && parents.has(next) && commits.length < parents.size) {
        commits.push(next);
        next = parents.get(next);
    }
    if (next === undefined || commits.length === 0 || parents.has(next)) {
        throw new Error(`GitHub lists only ${maxComparedFiles} files of a comparison, and its commits do not lead back from ${head.slice(0, 7)}. Name the files with \`path\` instead.`);
    }
    return { commits, from: next };
}
async function compare(github, base, head) {
    const parents = new Map();
    let first = (0,json/* asObject */.eB)(undefined);
    let files;
    for await (const page of github.pages('compare/{base}...{head}', { base, head, per_page: 100 })) {
        if (files === undefined) {
            first = (0,json/* asObject */.eB)(page);
            files = readFiles(first['files']);
            if (files.length < maxComparedFiles)
                break;
        }
        addParents((0,json/* asObject */.eB)(page)['commits'], parents);
    }
    const { status, total_commits: total, merge_base_commit: mergeBase } = first;
    const isAhead = status === 'ahead' || status === 'identical';
    if (files === undefined || files.length < maxComparedFiles)
        return { files: files ?? [], isAhead };
    const common = (0,json/* nameIn */.ZC)((0,json/* asObject */.eB)(mergeBase)['sha']);
    if (common === undefined || parents.size !== total) {
        const compared = typeof total === 'number' ? (0,words/* count */.U9)(total, 'commit') : 'an unknown number of commits';
        throw new Error(`GitHub compares ${compared}, and lists ${(0,words/* grouped */.zD)(parents.size)}. Run the job again, or name the files with \`path\`.`);
    }
    const all = [...files];
    const { commits, from } = mainLine(head, parents);
    await (0,in_parallel/* inParallel */.H)(commits, async (commit) => {
        all.push(...(await commitFiles(github, commit)));
    });
    if (from !== common)
        all.push(...(await filesBetween(github, from, common)));
    return { files: all, isAhead };
}
const filesSince = async (github, base, head) => (await compare(github, base, head)).files;
async function filesBetween(github, base, head) {
    const { files, isAhead } = await compare(github, base, head);
    return isAhead ? files : [...files, ...(await filesSince(github, head, base))];
}

;// CONCATENATED MODULE: ./build/bundle/compiled/action/changed-files/changed-files.js





async function filesOf(change, github, pause) {
    switch (change.kind) {
        case 'pull-request':
            return pullRequestFiles(github, change.number, pause);
        case 'push':
            return filesBetween(github, change.before, change.after);
        case 'new-ref':
            return filesSince(github, change.defaultBranch, change.after);
        case 'deleted-ref':
            return [];
        case 'merge-group':
            return filesBetween(github, change.base, change.head);
    }
}
function adviceOn(error, { kind }) {
    if (!(error instanceof client/* ServiceError */._7))
        return '';
    const permission = `the permission \`${kind === 'pull-request' ? 'pull-requests' : 'contents'}: read\``;
    switch (error.status) {
        case 401:
            return ` Leave \`github-token\` out: the token of the job is enough, if it has ${permission}.`;
        case 403:
            return ` Give the job ${permission}, below \`permissions:\`. Reading is enough, so the token of a run from a fork will do.`;
        case 404: {
            const gone = kind === 'push' ? ' Or the commit before the push is gone, as it may be after a force push.' : '';
            return ` GitHub says so, too, of what a token may not see: give the job ${permission}, below \`permissions:\`.${gone}`;
        }
        default:
            return '';
    }
}
async function lookUpChangedFiles(source, context, within) {
    const { change, repository } = source;
    const { log, sleep, signal } = context;
    const github = openGitHub(source, context, within);
    const of = (0,changed_files_change/* nameOf */.Vb)(change);
    try {
        const files = await filesOf(change, github, (ms) => sleep(ms, signal));
        const paths = new Set();
        for (const name of new Set(files.flatMap(({ name, before }) => (before === undefined ? name : [name, before])))) {
            const path = (0,lock_path/* parseHeldPath */.yo)(name);
            if (path.ok)
                paths.add(path.value);
            else
                log.debug(`Passed over ${JSON.stringify(name)}, which cannot be locked. ${path.why}`);
        }
        return { of, files: new Set(files.map(({ name }) => name)).size, paths: [...paths] };
    }
    catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        const where = `${repository.owner}/${repository.repo}`;
        throw new Error(`The files of ${of} of ${where} could not be looked up. ${why}${adviceOn(error, change)}`);
    }
    finally {
        github.close();
    }
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


/***/ })

};
