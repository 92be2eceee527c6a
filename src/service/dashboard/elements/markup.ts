import type { html } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';

/** HTML in which everything that came from elsewhere is escaped. Only the tag `html` makes it. */
export type Markup = ReturnType<typeof html> | HtmlEscapedString;
