import { addWords } from '@/i18n';
import { secondFactor } from '@/shared/secondFactor/secondFactor.en';

addWords({ secondFactor });
