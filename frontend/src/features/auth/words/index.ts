import { addWords } from '@/i18n';
import { auth } from './auth.en';
import '@/shared/secondFactor/words';

addWords({ auth });
