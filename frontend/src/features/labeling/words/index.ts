import { addWords } from '@/i18n';
import { labeling } from './labeling.en';

addWords({ labeling });
