import { addWords } from '@/i18n';
import { importing } from '../words/importing.en';

addWords({ importing });
