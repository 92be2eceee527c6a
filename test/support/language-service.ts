import { registerHooks } from 'node:module';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { parse } from 'yaml';

// The language service imports JSON without the attribute that Node.js requires.
registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context);
    return resolved.url.endsWith('.json') ? { ...resolved, importAttributes: { type: 'json' } } : resolved;
  },
});
const { validate } = await import('@actions/languageservice');

let checked = 0;

/**
 * The findings of GitHub's language service about a workflow, or an action if the name of the file is `action.yml`.
 *
 * @param actions The content of the `action.yml` of each action that a workflow uses, by its name such as
 *   `actions/checkout`. The steps of other actions are not checked.
 */
export async function findingsIn(
  fileName: string,
  content: string,
  actions: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  // The service caches files by their URL, and would not check another text with the same one.
  checked += 1;
  const document = TextDocument.create(`file:///${checked}/${fileName}`, 'yaml', 1, content);
  const diagnostics = await validate(document, {
    actionsMetadataProvider: {
      async fetchActionMetadata({ owner, name }) {
        const found = actions[`${owner}/${name}`];
        return found === undefined ? { name, description: '' } : parse(found);
      },
    },
  });
  return diagnostics.map(({ message, range }) => `${JSON.stringify(message)} at: ${document.getText(range)}`);
}
