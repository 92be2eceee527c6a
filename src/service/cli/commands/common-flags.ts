import { toggle, withDefault } from '../flags.ts';
import { parseFolder } from '../values.ts';

export const dataFlag = withDefault(
  { placeholder: 'FOLDER', what: 'the folder that the service keeps its data in' },
  './workspace-data',
  parseFolder,
);

/** Those of every command that looks at what the service has stored. */
export const commonFlags = {
  data: dataFlag,
  json: toggle('write one JSON document instead of text for people'),
} as const;
