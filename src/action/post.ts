import * as core from '@actions/core';

core.debug('nothing to release');
