const relation = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i;

/** The targets of a Link header (RFC 8288) by their relations; of several with the same relation the first. */
export function parseLinks(header: string | undefined): ReadonlyMap<string, string> {
  const targets = new Map<string, string>();
  // A target, and its parameters: texts in quotes among them can have commas and semicolons.
  for (const [, target = '', parameters = ''] of (header ?? '').matchAll(/<([^<>]*)>((?:[^,"<]|"[^"]*")*)/g)) {
    const [, quoted, plain] = relation.exec(parameters) ?? [];
    for (const name of (quoted ?? plain ?? '').toLowerCase().split(/\s+/)) {
      if (name !== '' && !targets.has(name)) targets.set(name, target);
    }
  }
  return targets;
}
