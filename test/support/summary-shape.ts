const text = '(?:[^<>&\\n]|&(?:amp|lt|gt|quot|#39);|<wbr>)*';
const table = `<table>\\n(?:<tr>(?:<(t[hd])>${text}</\\1>)+</tr>\\n)+</table>\\n`;

/**
 * A summary that is nothing but one block of HTML with text in it. GitHub reads Markdown again after an empty line
 * (CommonMark 0.31 section 4.6): there is none but at the end.
 */
export const summaryShape = new RegExp(
  `^<h3>${text}</h3>\\n<p>${text}</p>\\n(?:${table}(?:<p>And [\\d,]+ more.</p>\\n)?)*\\n$`,
  'u',
);

/** A line of the block of code with a picture, in which a path is the name of a section. */
export const pictureLine =
  /^(|gantt|```| {4}(dateFormat x|axisFormat %H:%M:%S|section …?[\p{L}\p{M}\p{N} ._/()+=-]+|(held :active|waited :done|not released :crit), \d+, \d+))$/u;
