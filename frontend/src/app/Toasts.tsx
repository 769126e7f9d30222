import { Notifications } from '@mantine/notifications';

/** Short messages about what was done or failed, in the corner of the page. */
export default function Toasts() {
  return <Notifications position="bottom-right" limit={4} />;
}
