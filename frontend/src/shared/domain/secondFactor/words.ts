import { addWords } from '@/i18n';
import { secondFactor } from '@/shared/domain/secondFactor/secondFactor.en';

addWords({ secondFactor });
