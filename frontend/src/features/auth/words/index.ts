import { addWords } from '@/i18n';
import { auth } from './auth.en';
import '@/shared/domain/people/words';
import '@/shared/domain/secondFactor/words';

addWords({ auth });
