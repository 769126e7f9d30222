import { addWords } from '@/i18n';
import { secondFactor } from '@/i18n/secondFactor.en';

addWords({ secondFactor });
