import { apache } from '../../support/gateways/gateways.ts';
import { testOutages } from './outages.ts';

testOutages(apache);
