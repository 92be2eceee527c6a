import type { ServiceProcess } from '../../test/support/service-process.ts';

/** Where locks are taken, and as whom. */
export type Place = Pick<ServiceProcess, 'baseUrl' | 'token' | 'workspace'>;
