import { addWords } from '@/i18n';
import { overview } from './overview.en';

addWords({ overview });
