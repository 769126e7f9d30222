import { addWords } from '@/i18n';
import { auth } from '@/i18n/auth.en';
import '@/shared/secondFactor/words';

addWords({ auth });
