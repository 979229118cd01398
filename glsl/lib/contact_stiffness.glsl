// The stiffness of contact at a node. Needs the bindings that it names.

// Stiffness of the contact springs at a node.
float contact_stiffness(uint n) {
    return push.contact > 0.0 ? push.contact * contacts[n] : 0.0;
}
