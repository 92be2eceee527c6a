import { caddy } from '../../support/gateways/gateways.ts';
import { testOutages } from './outages.ts';

testOutages(caddy);
