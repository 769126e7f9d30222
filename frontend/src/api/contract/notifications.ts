export type {
  DailyMail,
  DailyMailChangeRequest as DailyMailChange,
  Need,
  Notification,
  Preference,
  PreferenceChangeRequest,
  Preferences,
} from '../schema';
