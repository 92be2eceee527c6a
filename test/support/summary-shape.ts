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
