import { devNull } from 'node:os';

/** The operator's variables that git inherits. All others are removed, so that no stray setting changes its behavior. */
const passedOn = `
  PATH Path HOME USERPROFILE SystemRoot TMPDIR TEMP TMP SSH_AUTH_SOCK GIT_SSH_COMMAND GIT_SSH GIT_SSH_VARIANT
  GIT_SSL_CAINFO SSL_CERT_FILE SSL_CERT_DIR https_proxy HTTPS_PROXY all_proxy ALL_PROXY no_proxy NO_PROXY
`
  .trim()
  .split(/\s+/);

/** Never asks, gives up on a host that does not answer, and notices within a minute that a connection is dead. */
const sshCommand = 'ssh -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=15 -o ServerAliveCountMax=4';

const settings: Readonly<Record<string, string>> = {
  'core.hooksPath': devNull,
  'credential.helper': '',
  // A redirect could lead to where the credentials must not go, and to hosts that nobody registered.
  'http.followRedirects': 'false',
  // A remote at work sends at least a keep-alive every five seconds: a minute of silence is a dead connection.
  'http.lowSpeedLimit': '1',
  'http.lowSpeedTime': '60',
  // Always keep the pack as it came: unpacking it would report no progress that counts the objects received.
  'fetch.unpackLimit': '1',
  'fetch.recurseSubmodules': 'false',
  // Upkeep happens when the service says so, never behind its back.
  'gc.auto': '0',
  'maintenance.auto': 'false',
};

export interface GitSetup {
  readonly allowFile: boolean;
  /** The repository that git works on; without one, it must not find any. */
  readonly repository?: string | undefined;
  /** Further settings. They reach git through its environment, so they may hold secrets. */
  readonly moreSettings?: Readonly<Record<string, string>>;
  /** The version of the protocol in which git answers. */
  readonly protocol?: string | undefined;
}

/** The whole environment of a git process. */
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
    // An empty name means that there is no program to ask.
    GIT_ASKPASS: '',
    GCM_INTERACTIVE: 'never',
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
