export type DeliveryStatus =
  | 'pending'
  /** It was over, and is sent again: one attempt is made. */
  | 'again'
  | 'delivered'
  | 'failed'
  /** The receiver has said to another delivery that it wants nothing more. */
  | 'dropped';
