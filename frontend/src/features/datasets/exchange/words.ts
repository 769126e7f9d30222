import { addWords } from '@/i18n';
import { exchange } from '../words/exchange.en';

addWords({ exchange });
