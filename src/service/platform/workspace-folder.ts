/** Undefined if the service did not create the folder. */
export function workspaceOfFolder(folder: string): string | undefined {
  const workspace = folder.replaceAll(/%([0-9a-f]{2})/g, (_, byte: string) => String.fromCharCode(Number(`0x${byte}`)));
  return folder === workspaceFolder(workspace) ? workspace : undefined;
}

/** Name of the folder of a workspace, unique even on file systems that ignore case. */
export const workspaceFolder = (workspace: string): string =>
  [...Buffer.from(workspace)]
    .map((byte) => String.fromCharCode(byte))
    .map((character) => (/[a-z0-9_-]/.test(character) ? character : `%${character.charCodeAt(0).toString(16)}`))
    .join('');
