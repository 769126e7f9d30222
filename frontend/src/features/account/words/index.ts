import { addWords } from '@/i18n';
import { settings } from '@/i18n/settings.en';
import { appearance } from './appearance.en';
import '@/shared/domain/people/words';
import '@/shared/domain/secondFactor/words';

addWords({ appearance, settings });
