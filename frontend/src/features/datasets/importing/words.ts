import { addWords } from '@/i18n';
import { importing } from '@/i18n/importing.en';

addWords({ importing });
