import { type JsFileRunResultInterface, RunOptions, RunTarget } from 'github-action-ts-run-api';
import { ourActionFile } from './action-file.ts';

export interface RunApiOptions {
  /** The file to run: the main or the post of an action. */
  readonly entry: string;
  /** The folders are the caller's, so that a post finds what a main has left. */
  readonly workspace: string;
  readonly temp: string;
  /** The `action.yml` with the defaults of the inputs; ours if not given. */
  readonly actionFile?: string;
  readonly with?: Readonly<Record<string, string>>;
  /** For a post: `commands.savedState` of the main. */
  readonly state?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** `GITHUB_REF` */
  readonly ref?: string;
}

/**
 * Runs one file of an action with a runner that nobody here wrote: a second opinion beside the harness. It knows no
 * cancellation, no masks in the log and no expressions in defaults, so `github-token` has to be given where it counts.
 */
export async function runWithRunApi(options: RunApiOptions): Promise<JsFileRunResultInterface> {
  const { entry, workspace, temp, actionFile = ourActionFile, with: inputs, state, env, ref } = options;
  const runOptions = RunOptions.create()
    .setInputs({ ...inputs })
    .setState({ ...state })
    .setEnv({ ...env })
    .setShouldAddProcessEnv(false)
    .setGithubContext({ repository: 'octo-games/dragon', ref: ref ?? 'refs/heads/main', payload: {} })
    .setWorkspaceDir(workspace)
    .setWorkingDir(workspace)
    .setTempDir(temp)
    .setOutputOptions({ printStdout: false, printStderr: false, printRunnerWarnings: false });
  return RunTarget.jsFile(entry, actionFile).run(runOptions);
}
