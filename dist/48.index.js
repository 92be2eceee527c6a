export const id = 48;
export const ids = [48];
export const modules = {

/***/ 48:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

__webpack_require__.r(__webpack_exports__);
/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   registerHook: () => (/* binding */ registerHook)
/* harmony export */ });
/* harmony import */ var _context_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(1659);
/* harmony import */ var _outcome_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(8776);


const receiver = (url) => new URL(url).origin;
const textsIn = (value) => Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
const looksAtSignature = (format) => format !== 'github' && format !== 'buildkite';
async function registerHook(context, task) {
    const { client, log } = context;
    const { workspace, url, events, secret } = task;
    const { hook_id, replaced, madeSecret } = await client.registerHook({
        workspace,
        url,
        options: task.options,
        ...(events.length > 0 && { events }),
        ...(secret !== '' && { secret }),
    }, (0,_context_js__WEBPACK_IMPORTED_MODULE_0__/* .defaultLimits */ .MK)(context));
    if (madeSecret !== undefined && looksAtSignature(task.options['format'])) {
        log.warn('The service made up a secret for this webhook, which is not shown here. To verify deliveries, set your own with `hook-secret`.');
    }
    const chosen = events.length > 0 ? events : textsIn(task.options['events']);
    const what = replaced ? 'The webhook existed and has been replaced' : 'The webhook is registered';
    const sentence = `${what}: ${workspace} tells ${receiver(url)}.`;
    log.line(sentence);
    return (0,_outcome_js__WEBPACK_IMPORTED_MODULE_1__/* .succeeded */ .gq)({ status: 'registered', ...(hook_id !== undefined && { hook_id }) }, sentence, {
        head: ['Workspace', 'Receiver', 'Events', 'Id'],
        rows: [[workspace, receiver(url), chosen.join(', ') || 'the default of the service', hook_id ?? '']],
    });
}


/***/ })

};
