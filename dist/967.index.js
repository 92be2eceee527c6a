export const id = 967;
export const ids = [967];
export const modules = {

/***/ 1967:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

__webpack_require__.r(__webpack_exports__);
/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   listBranches: () => (/* binding */ listBranches),
/* harmony export */   listWorkspaces: () => (/* binding */ listWorkspaces)
/* harmony export */ });
/* harmony import */ var _context_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(1659);
/* harmony import */ var _outcome_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(8776);
/* harmony import */ var _report_redact_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(2938);
/* harmony import */ var _report_words_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(1046);




function outputsOf({ log, redact }, { items, incomplete }, sentence, key) {
    log.group(sentence, items.map(({ name }) => name));
    if (incomplete !== undefined)
        log.warn(incomplete);
    const entries = items.map(({ name, raw }) => ({ [key]: name, ...raw }));
    return { status: 'ok', count: String(items.length), json: (0,_report_redact_js__WEBPACK_IMPORTED_MODULE_2__/* .redactedJson */ .Rh)(entries, redact) };
}
async function listWorkspaces(context) {
    const list = await context.client.listWorkspaces((0,_context_js__WEBPACK_IMPORTED_MODULE_0__/* .defaultLimits */ .MK)(context));
    const sentence = `The token can see ${(0,_report_words_js__WEBPACK_IMPORTED_MODULE_3__/* .count */ .U9)(list.items.length, 'workspace')}.`;
    const { json, ...outputs } = outputsOf(context, list, sentence, 'id');
    const rows = list.items.map(({ name }) => [name]);
    return (0,_outcome_js__WEBPACK_IMPORTED_MODULE_1__/* .succeeded */ .gq)({ ...outputs, workspaces: json }, sentence, { head: ['Workspace'], rows });
}
const text = (value) => (typeof value === 'string' ? value : '');
async function listBranches(context, { workspace }) {
    const list = await context.client.listBranches({ workspace }, (0,_context_js__WEBPACK_IMPORTED_MODULE_0__/* .defaultLimits */ .MK)(context));
    const sentence = `The workspace ${workspace} has ${(0,_report_words_js__WEBPACK_IMPORTED_MODULE_3__/* .count */ .U9)(list.items.length, 'branch', 'branches')}.`;
    const { json, ...outputs } = outputsOf(context, list, sentence, 'name');
    const rows = list.items.map(({ name, raw }) => [name, text(raw['head']), text(raw['synced_head'])]);
    return (0,_outcome_js__WEBPACK_IMPORTED_MODULE_1__/* .succeeded */ .gq)({ ...outputs, branches: json }, sentence, { head: ['Branch', 'Head', 'Synced'], rows });
}


/***/ })

};
