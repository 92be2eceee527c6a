import { devNull } from 'node:os';

/** Variables that git inherits from the operator. Others are removed, so that no stray setting changes its behavior. */
const passedOn = `
  PATH Path HOME USERPROFILE SystemRoot TMPDIR TEMP TMP SSH_AUTH_SOCK GIT_SSH_COMMAND GIT_SSH GIT_SSH_VARIANT
  GIT_SSL_CAINFO SSL_CERT_FILE SSL_CERT_DIR https_proxy HTTPS_PROXY all_proxy ALL_PROXY no_proxy NO_PROXY
`
  .trim()
  .split(/\s+/);

/** Never prompts, limits the time to connect, and detects a dead connection within a minute. */
const sshCommand = 'ssh -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=15 -o ServerAliveCountMax=4';

const settings: Readonly<Record<string, string>> = {
  'core.hooksPath': devNull,
  'credential.helper': '',
  // A redirect could send the credentials elsewhere, and lead to hosts that nobody registered.
  'http.followRedirects': 'false',
  // Ends a fetch over https that stalls after its last object, when no progress is expected any more. Over ssh, only the
  // time limit does.
  'http.lowSpeedLimit': '1',
  'http.lowSpeedTime': '60',
  // Always keep the received pack: unpacking it would not report the number of received objects.
  'fetch.unpackLimit': '1',
  // Also refs: no fetch could update one that a power failure has emptied.
  'core.fsync': 'committed',
  'fetch.recurseSubmodules': 'false',
  // The service decides when maintenance runs.
  'gc.auto': '0',
  'maintenance.auto': 'false',
};

interface GitSetup {
  readonly allowFile: boolean;
  /** The repository that git works on. Without it, git must not discover another one. */
  readonly repository?: string | undefined;
  /** Further settings. They may contain secrets: git receives them through its environment. */
  readonly moreSettings?: Readonly<Record<string, string>>;
  readonly variables?: Readonly<Record<string, string>> | undefined;
  /** Protocol version of the response, as in the `Git-Protocol` header. */
  readonly protocol?: string | undefined;
}

export function gitEnvironment(operator: NodeJS.ProcessEnv, setup: GitSetup): NodeJS.ProcessEnv {
  const environment: NodeJS.ProcessEnv = {
    LANG: 'C.UTF-8',
    LC_ALL: 'C',
    GIT_DIR: setup.repository ?? devNull,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: devNull,
    GIT_ATTR_NOSYSTEM: '1',
    GIT_DEFAULT_HASH: 'sha1',
    GIT_DEFAULT_REF_FORMAT: 'files',
    GIT_ALLOW_PROTOCOL: setup.allowFile ? 'https:ssh:file' : 'https:ssh',
    GIT_NO_LAZY_FETCH: '1',
    GIT_TERMINAL_PROMPT: '0',
    // An empty value disables the program that prompts for passwords.
    GIT_ASKPASS: '',
    GCM_INTERACTIVE: 'never',
    ...setup.variables,
  };
  if (setup.protocol !== undefined) environment['GIT_PROTOCOL'] = setup.protocol;
  for (const name of passedOn) {
    const value = operator[name];
    if (value !== undefined) environment[name] = value;
  }
  if (operator['GIT_SSH_COMMAND'] === undefined && operator['GIT_SSH'] === undefined) {
    environment['GIT_SSH_COMMAND'] = sshCommand;
  }
  const all = Object.entries({ ...settings, ...setup.moreSettings });
  environment['GIT_CONFIG_COUNT'] = String(all.length);
  for (const [index, [key, value]] of all.entries()) {
    environment[`GIT_CONFIG_KEY_${index}`] = key;
    environment[`GIT_CONFIG_VALUE_${index}`] = value;
  }
  return environment;
}
