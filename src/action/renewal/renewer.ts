import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { errorMessage } from '../../interface/format.ts';

export type Renewer = ReturnType<typeof startRenewer>;

/**
 * Starts the process that renews locks. It waits for its task on its input, and ends if it gets none. `response` is why
 * it does not renew the locks; undefined if it does, although it may end later.
 */
export function startRenewer() {
  const renewer = startProcess();
  // A failure is reported only if there are locks to renew.
  renewer.catch(() => undefined);
  return renewer;
}

/** Little memory, which the job may need. With other options, Node would compile its own code again at each start. */
const memoryOptions = ['--max-semi-space-size=1', '--max-old-space-size=256'];

async function startProcess() {
  // A separate bundle next to this one.
  const file = join(dirname(process.argv[1] ?? ''), 'renew', 'index.js');
  const child = spawn(process.execPath, [...memoryOptions, file], {
    // Windows cannot remove the working directory of a process, such as the checkout or the runner's temporary folder.
    cwd: dirname(file),
    env: variablesLike(plainVariables, process.env),
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
    windowsHide: true,
  });
  await once(child, 'spawn');
  const response = Promise.race([
    once(child.stdout, 'data').then(() => undefined),
    once(child, 'close').then(([code, killedBy]) =>
      code === null ? `${killedBy} ended it` : `it ended with exit code ${code}`,
    ),
    // An error of a stream is no reason to end the step.
  ]).catch(errorMessage);
  return { child, response };
}

/**
 * Variables that Node and the system need, and the one by which the runner finds leftover processes of a job. None is
 * secret, because other processes can read the environment of this one.
 */
export const plainVariables =
  /^(RUNNER_TRACKING_ID|NODE_(OPTIONS|EXTRA_CA_CERTS|USE_SYSTEM_CA|TLS_REJECT_UNAUTHORIZED)|OPENSSL_CONF|SSL_CERT_(FILE|DIR)|PATH|SystemRoot|windir|TEMP|TMP|TMPDIR)$/i;

/** The proxy variables that the HTTP client of the toolkit reads. */
export const proxyVariables = /^(https?_proxy|no_proxy)$/i;

export const variablesLike = (pattern: RegExp, environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => pattern.test(name)));
