import { addWords } from '@/i18n';
import { labeling } from '@/i18n/labeling.en';

addWords({ labeling });
