const text = '(?:[^<>&\\n]|&(?:amp|lt|gt|quot|#39);|<wbr>)*';
const sentence = `${text}(?:<code>${text}</code>${text})*`;
const link = `<a href="https?://(?:[^<>&"'\\s]|&(?:amp|lt|gt|quot|#39);)+">${text}</a>`;
const row = `<tr>(?:<td>(?:${text}|${link})</td>)+</tr>\\n`;
const table = `<table>\\n<tr>(?:<th>${text}</th>)+</tr>\\n(?:${row})*</table>\\n`;

/**
 * A summary that is one block of HTML with text. GitHub reads Markdown again after an empty line (CommonMark 0.31
 * section 4.6), so the only one may be at the end.
 */
export const summaryShape = new RegExp(
  `^<h3>${text}</h3>\\n<p>${sentence}</p>\\n(?:${table}(?:<p>And [\\d,]+ more(?:: ${link})?\\.</p>\\n)?)?\\n$`,
  'u',
);

const minute = '\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d';
const time = `${minute}:\\d\\d\\.\\d{3}`;

/** A line of a code block with a diagram, where a path is the name of a section. */
export const pictureLine = new RegExp(
  `^(|gantt|\`\`\`|%%\\{init: \\{"gantt": \\{"leftPadding": \\d+\\}\\}\\}%%| {4}(title ${minute} UTC(?: to ${minute} UTC)?|dateFormat YYYY-MM-DD HH:mm:ss\\.SSS|axisFormat %H:%M:%S|section …?[\\p{L}\\p{M}\\p{N} ._/()+=-]+|(held :active|waited :done|(?:not released|lost) :crit), ${time}, ${time}))$`,
  'u',
);
