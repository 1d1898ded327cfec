// größer
E<> größe
/* é */ E<> a é
