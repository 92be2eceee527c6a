import { nginx } from './gateways.ts';
import { testOutages } from './outages.ts';

testOutages(nginx);
