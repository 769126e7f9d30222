import { addWords } from '@/i18n';
import { overview } from '@/i18n/overview.en';

addWords({ overview });
