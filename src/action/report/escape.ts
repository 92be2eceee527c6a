/** C0, DEL, C1, both Unicode line breaks, bidirectional controls, lone surrogates. V8 is slow to look up classes. */
const unprintable = /[^ -~\u00a0-\u{10ffff}]|[\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]/gu;

/**
 * Untrusted text for one log line. It can start neither a new line nor a workflow command, which the runner recognizes
 * by `::` at the start of a line, or `##[` anywhere (actions/runner, src/Runner.Common/ActionCommand.cs).
 */
export const oneLine = (text: string): string =>
  text
    .replace(unprintable, codeOf)
    .replace(/^(\s*):(?=:)/, '$1: ')
    .replace(/##(?=\[)/g, '# #');

const codeOf = (character: string): string => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;

/** The last three would start a mention, an issue reference or an emoji: GitHub also processes rendered text. */
const htmlSpelling: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '@': '@<wbr>',
  '#': '#<wbr>',
  ':': ':<wbr>',
};

/** Escapes untrusted text for HTML. GitHub does not interpret Markdown inside an HTML block. */
export const inHtml = (text: string): string =>
  oneLine(text).replace(/[&<>"'@#:]/g, (character) => htmlSpelling[character] ?? character);
