/**
 * The last three would start a mention, an issue reference or an emoji, even in HTML: GitHub processes the rendered
 * text.
 */
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

/** Escapes untrusted text for an attribute in double quotes. */
export const inAttribute = (text: string): string =>
  oneLine(text).replace(/[&<>"']/g, (character) => htmlSpelling[character] ?? character);

/** C0, DEL, C1, the two Unicode line breaks, and the bidirectional controls. */
const unprintable = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|\p{Cs}/gu;

/**
 * Untrusted text for one log line: it can start neither a new line nor a workflow command. The runner recognizes `::`
 * at the start of a line, and `##[` anywhere (actions/runner, src/Runner.Common/ActionCommand.cs).
 */
export const oneLine = (text: string): string =>
  text
    .replace(unprintable, codeOf)
    .replace(/^(\s*):(?=:)/, '$1: ')
    .replace(/##(?=\[)/g, '# #');

const codeOf = (character: string): string => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
